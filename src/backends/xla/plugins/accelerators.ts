/** Accelerators whose plugins are installed by name. */

/** Names of the accelerators, as the flag --accelerator takes them. */
export const accelerators = ["cpu", "cuda12", "cuda13", "rocm7", "tpu"] as const;

/** An accelerator whose plugin is installed by name. */
export type AcceleratorName = (typeof accelerators)[number];
