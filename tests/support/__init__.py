"""Support that tests share: invented runs and machines, far ends, kernels, and programs of known cost."""
