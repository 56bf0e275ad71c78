/** The name that replaces a module's URL in browsers: in a bundle, modules have no URL of their own. */
export const bundledEntry = "inferyard";
