"""What tests share: runs and machines that are made up, far ends, kernels, and programs of known cost."""
