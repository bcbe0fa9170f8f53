"""KubeAdmiral's rules, written down a second time from the specification, with its defects.

Each takes the rows of ``tests.vectors.deviations`` that are to be as kadm has them: with none it answers as KubeAdmiral
does, with all it answers as kadm must.
"""
