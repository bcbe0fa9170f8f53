"""Convert: the policies of other tools as KubeAdmiral's kinds, with notes where they say what these cannot."""

from kadm.convert.converted import Converted, Converting
from kadm.convert.karmada import convert_karmada

__all__ = ["Converted", "Converting", "convert_karmada"]
