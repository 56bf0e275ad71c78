/** Stands for the modules that the worker's program contains: in a bundle modules have no URL of their own. */
export const bundledEntry = "inferyard";
