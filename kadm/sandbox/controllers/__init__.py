"""What makes a member's objects live: the controllers, the pod scheduler and simulated kubelets.

Every controller is a pure decision (objects in, actions out) behind a thin class that reads the live store. ``loop``
runs them: woken by the store's events, never by polling.
"""
