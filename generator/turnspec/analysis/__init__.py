"""From prompt texts to a spec: probes, comparisons, and the findings with their derivations.

May import `turnspec.spec` and `turnspec.rendering`.
"""
