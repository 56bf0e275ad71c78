/** The model store of the command line. */
import { type ModelStore, createStore } from "../models/model-store.ts";
import { dataFolder } from "../storage/data-folder.ts";
import type { Terminal } from "./terminal.ts";

/** Opens the store that the environment configures. */
export function openStore({ environment }: Terminal): ModelStore {
  return createStore({ folder: dataFolder({ environment }), environment });
}
