/** The store as the command line's environment and settings have it. */
import { type ModelStore, createStore } from "../models/model-store.ts";
import { dataFolder } from "../models/data-folder.ts";
import type { Terminal } from "./terminal.ts";

export function openStore({ environment }: Terminal): ModelStore {
  return createStore({ folder: dataFolder({ environment }), environment });
}
