/** The version of this package, as package.json states it; a test holds the two together. A browser cannot read package.json. */
export const version = "0.1.0";
