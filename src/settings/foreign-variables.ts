/** Notes on environment variables of other runtimes. They are not read; each note names the equivalent setting of this package. */

/** A variable of another runtime that is set. */
export interface ForeignVariable {
  readonly name: string;
  /** A sentence without a full stop: the variable is not read, and what to set instead. */
  readonly note: string;
  /**
   * true: the variable decides where models run, so that every command that runs a model prints the note. Default: false; only `doctor`, `explain`
   * and `serve` print it.
   */
  readonly isPlacement?: true;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Row = (value: string) => Omit<ForeignVariable, "name"> | undefined;

/** Variables of other runtimes that are set and would have an effect in their own runtime. */
export function foreignVariables(environment: Environment): readonly ForeignVariable[] {
  return Object.entries(rows).flatMap(([name, row]) => {
    const value = environment[name]?.trim() ?? "";
    const found = value === "" ? undefined : row(value);
    return found === undefined ? [] : [{ name, ...found }];
  });
}

const notRead = (owner: string, instead: string): string => `is a variable of ${owner}, which is not read; ${instead}`;

/** Note for a variable of Termite with an equivalent variable of this package. `convert`: converts its value; default: unchanged. */
const termite =
  (ours: string, convert: (value: string) => string = (value) => value): Row =>
  (value) => ({ note: notRead("Termite", `set ${ours}=${convert(value)}`) });

const placement =
  (row: Row): Row =>
  (value) => {
    const found = row(value);
    return found && { ...found, isPlacement: true };
  };

const gpuMode = placement((value) =>
  value.toLowerCase() === "auto" ? undefined : termite("INFERYARD_GPU")(value.toLowerCase()),
);

/** Maps a backend of Termite or GoMLX to a target of this package. Their engine in Go corresponds to `native`. */
function backendHere(spec: string): string {
  const [backend = "", device] = spec.trim().toLowerCase().split(":");
  const name = backend === "go" || backend === "simplego" ? "native" : backend;
  return [name, ...(device === undefined || device === "auto" ? [] : [device])].join(":");
}

const priority = placement((value) => ({
  note: notRead("Termite", `set INFERYARD_PRIORITY=${value.split(",").map(backendHere).join(",")}`),
}));

const gomlx = placement((value) => ({ note: notRead("GoMLX", `set INFERYARD_TARGET=${backendHere(value)}`) }));

const rows: Readonly<Record<string, Row>> = {
  TERMITE_GPU: gpuMode,
  TERMITE_GPU_MODE: gpuMode,
  TERMITE_FORCE_COREML: placement((value) => (value === "0" ? undefined : termite("INFERYARD_GPU", () => "coreml")(value))),
  TERMITE_BACKEND_PRIORITY: priority,
  GOMLX_BACKEND: gomlx,
  TERMITE_KEEP_ALIVE: termite("INFERYARD_KEEP_ALIVE"),
  TERMITE_MAX_LOADED_MODELS: termite("INFERYARD_MAX_LOADED_MODELS"),
  TERMITE_MAX_MEMORY_MB: termite("INFERYARD_MAX_MEMORY", (value) => `${value}MB`),
  TERMITE_PRELOAD: termite("INFERYARD_SERVER_PRELOAD"),
  TERMITE_MODELS_DIR: () => ({ note: notRead("Termite", "name a model by the path of its folder") }),
  ONNXRUNTIME_ROOT: () => ({
    note: notRead(
      "other users of ONNX Runtime for running models",
      "the backend onnx runs the library of the npm package onnxruntime-node, and inferyard libraries looks there",
    ),
  }),
};
