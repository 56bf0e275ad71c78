/** Engines from npm packages, installed into the data folder. */
export { type EngineName, type LlamaAccelerator, engineNames, llamaAccelerators } from "./engine-packages.ts";
export { installEngine, installedEngines, mainPackages, removeEngine } from "./install-engine.ts";
