/** Engines from npm packages, installed into the data folder. */
export { type EngineName, engineNames, llamaAccelerators } from "./engine-packages.ts";
export { installEngine, installedEngines, mainPackages, removeEngine } from "./install-engine.ts";
