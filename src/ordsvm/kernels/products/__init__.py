"""Products with the kernel matrix where all of it is never stored: by the core, or by torch on a device."""
