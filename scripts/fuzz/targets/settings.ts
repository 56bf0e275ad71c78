/** inferyard.yaml and the variables of the environment: what is accepted can be written and read again. */
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import { checkVariables, checkYaml } from "../../../src/settings/check.ts";
import { settingDefaults, settingNames } from "../../../src/settings/settings.ts";
import { serverOptions } from "../../../src/settings/server-options.ts";
import { InferyardError } from "../../../src/contract/errors.ts";
import { mutateBytes } from "../mutations/mutate-bytes.ts";
import { type Json, mutateJson } from "../mutations/mutate-json.ts";
import { type FuzzTarget, type Mutation, mustHold } from "../target.ts";

export const settings: FuzzTarget = {
  codes: ["CONFIG_INVALID", "INPUT_INVALID"],
  seeds: () => [
    Buffer.from(stringify(settingDefaults)),
    Buffer.from(
      `priority: [native, wasm]\nserver:\n  port: 8080\n  keys:\n    - { name: a, sha256: ${"a".repeat(64)}, role: reader }\n  models: { a: builtin }\n`,
    ),
    Buffer.from("# note\nkeepAlive: 5m\nmodels:\n  builtin: { policy: fastest, prefer: native }\nthreads: 2\n"),
    Buffer.from("a: &a [1]\nb: *a\n<<: *a\n? [x]\n: !!binary aGk=\n--- 2\n"),
  ],
  mutate: mutateYaml,
  maxBytes: 8192,
  dictionary: [
    ...settingNames,
    ...Object.keys(serverOptions),
    "native",
    "wasm:cpu",
    "5m",
    "2GB",
    "*a",
    "&a",
    "<<",
    "!!binary",
    "---",
    "? ",
    "%YAML 1.1",
  ],
  open: async () => ({
    run(input) {
      const text = Buffer.from(input).toString();
      variables(text);
      const accepted = checkYaml(text, "inferyard.yaml");
      const again = checkYaml(stringify(accepted), "inferyard.yaml");
      mustHold(isDeepStrictEqual(accepted, again), () => `written and read again it is ${JSON.stringify(again)}`);
    },
  }),
};

/** Each line as a variable of the environment. */
function variables(text: string): void {
  for (const line of text.split("\n").slice(0, 20)) {
    const [name = "", ...value] = line.split(":");
    try {
      checkVariables([[`INFERYARD_${name.trim().replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`, value.join(":").trim()]]);
    } catch (error) {
      if (!(error instanceof InferyardError) || error.code !== "CONFIG_INVALID") throw error;
    }
  }
}

function mutateYaml(input: Uint8Array, mutation: Mutation): Uint8Array {
  const value = read(input);
  if (value === undefined || mutation.random.oneIn(3)) return mutateBytes(input, mutation);
  try {
    return Buffer.from(stringify(mutateJson(value, { ...mutation, other: read(mutation.other) ?? null })));
  } catch {
    return mutateBytes(input, mutation); // a value that has no YAML
  }
}

function read(bytes: Uint8Array): Json | undefined {
  try {
    return structuredClone(parse(Buffer.from(bytes).toString()) as Json);
  } catch {
    return undefined;
  }
}
