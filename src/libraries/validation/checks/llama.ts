/** Checks of llama.cpp. */
import { dirname } from "node:path";
import { realpathSync } from "node:fs";
import type { ProvedStruct } from "../library-validation.ts";
import { proveLlamaLayout } from "../prove-layout.ts";
import { type LibraryCheck, ggmlVersion, refuse, statedText } from "./checked-library.ts";

/** The release is not compared: layouts are proved instead, since a library may state none. */
const version: LibraryCheck = {
  step: "version",
  run(checked) {
    const ggml = ggmlVersion(checked);
    const stated = [statedText(checked, "llama_version"), ggml && `ggml ${ggml}`].filter((text) => text !== undefined).join(", ");
    return stated === "" ? { detail: "it states none; the layouts of its structs tell" } : { detail: stated, version: stated };
  },
};

const abi: LibraryCheck = {
  step: "abi",
  run({ library }) {
    const structs = Object.values(proveLlamaLayout(library)).map(({ name, release, size, fields }): ProvedStruct => ({
      name,
      release,
      size,
      fields: Object.keys(fields).length,
    }));
    return {
      detail: structs
        .map(({ name, release, size, fields }) => `${name} as of ${release}: ${fields} fields, ${size} bytes`)
        .join("; "),
      structs,
    };
  },
};

/** Builds with `GGML_BACKEND_DL` have the code for each processor in files beside the library, and compute nothing until one is loaded. */
const devices: LibraryCheck = {
  step: "devices",
  run(checked) {
    const { library } = checked;
    if (!library.has("ggml_backend_dev_count")) return { detail: "it does not list its devices" };
    const folder = dirname(realpathSync(library.path));
    if (library.has("ggml_backend_load_all_from_path")) {
      library.bind("ggml_backend_load_all_from_path", { result: "void", parameters: ["string"] })(folder);
    }
    const count = library.bind("ggml_backend_dev_count", { result: "size", parameters: [] })();
    const get = library.bind("ggml_backend_dev_get", { result: "pointer", parameters: ["size"] });
    const nameOf = library.bind("ggml_backend_dev_name", { result: "string", parameters: ["pointer"] });
    const names = Array.from({ length: count }, (_, index) => nameOf(get(index)) ?? "unnamed");
    if (names.length > 0) return { detail: names.join(", ") };
    throw refuse(checked, "devices", {
      expected: "a device to compute on",
      found: `none: no build of ggml for this processor lies in ${folder}`,
      remedy: "put libggml-cpu or its builds (libggml-cpu-haswell.so, ...) beside the library",
    });
  },
};

export const llamaChecks: readonly LibraryCheck[] = [version, abi, devices];
