/** Wheels, the packages of Python: found on the user's indexes, fetched and unpacked without Python. */
export { fetchWheel, type WheelProgress } from "./fetch-wheel.ts";
export { type PipSettings, readPipSettings } from "./pip-settings.ts";
export { type FoundWheel, findWheel, wheelAt } from "./wheel-index.ts";
export { type WheelMachine, parseWheelName, wheelMisfit } from "./wheel-name.ts";
export { ZipArchive, type ZipEntry } from "./zip-archive.ts";
