/** In a bundle no module has an address of its own: this stands for the ones that the worker's program carries. */
export const bundledEntry = "inferyard";
