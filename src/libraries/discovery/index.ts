/** Finds native inference libraries on this machine, and tells every location that it looked at. */
export { discoverLibraries, type DiscoveredLibrary, type Discovery, type DiscoveryOptions } from "./discover-libraries.ts";
export type { LibraryPackage, LocationOutcome, SearchedLocation } from "./search-location.ts";
export { environmentLocations } from "./environment-locations.ts";
export { scanLocation } from "./scan-location.ts";
