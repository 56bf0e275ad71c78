/** Written by `npm run schemas`; the table of options is the source. */

/** Settings of a runtime that inferyard.yaml has, too. */
export interface RuntimeOptions {
  /** Where models run: `worker`, a thread per model; `process`, a child process per model, which isolates crashes of the engine and returns all memory when it ends; or `inline`, the calling thread. Not set: for backends that block their thread, a process if a memory budget is set, else a worker. */
  readonly host?: "inline" | "worker" | "process";
  /** Number of replicas of a model, with one thread each: `auto` loads one per core for bulk work, as memory allows; a number also loads them when runs overlap; `1` disables replicas. A run goes to the replica with the least work. Replicas that had no run for 6 s are unloaded. Default: "auto". */
  readonly replicas?: number | "auto";
  /** How a model is distributed over the devices of a machine: `pool`, `round-robin` and `data-parallel` load a replica on each device of the chosen kind, and runs go to the one with the least work, or to each in turn; with `pipeline` and `tensor-parallel` several processes compute one instance together (ranks), which models that are not ONNX files on `native` refuse; `one-device` ignores what a package states. Not set: what the package states, else one device. */
  readonly placement?: "one-device" | "pool" | "round-robin" | "data-parallel" | "pipeline" | "tensor-parallel";
  /** Number of processes that compute one instance of a model with the placements `pipeline` and `tensor-parallel`. Default: 2. */
  readonly ranks?: number;
  /** Maximum memory of the machine that all models may take together: `2GB`, `500MB`, `1.5GiB`, or bytes. Unused models are evicted to make room, the least recently used first. Not set: no limit; for `serve`, 80 % of the memory of the machine or of its control group. */
  readonly maxMemory?: number | string;
  /** Maximum memory of single devices by name (`cuda:0: 8GB`). A name that is not a device, and `cpu`, are refused; a device that this machine does not have limits nothing, so that one file serves several machines. A map, which only the file can have. */
  readonly maxDeviceMemory?: Readonly<Record<string, number | string>>;
  /** Maximum number of models in memory, not counting replicas. */
  readonly maxLoadedModels?: number;
  /** Maximum time a load waits for memory that models in use hold, before it fails with `MEMORY_BUDGET`. Default: "30s". */
  readonly memoryWait?: number | string;
  /** Time a model stays in memory after its last use: `30s`, `5m`, `1h`, or milliseconds. `0`: for ever. Default: "5m". */
  readonly keepAlive?: number | string;
  /** Whether, after a transient failure of a run, the model is loaded on the next target and the request is run again. Default: false. */
  readonly failover?: boolean;
  /** What a request does whose first target has to compile the model, as `xla` does: `wait` until it is compiled, or be served by the `next` target that compiles nothing, while the model is compiled beside it for later requests. A request that permits no other target waits. Default: "wait". */
  readonly whileCompiling?: "wait" | "next";
  /** Maximum memory of the process of one model: `2GB`, `500MB`, or bytes. A process that holds more is replaced between two calls, without losing requests. If set, models of backends that block their thread run in processes. */
  readonly maxProcessMemory?: number | string;
  /** Memory by which the process of one model may grow beyond what it held once it was loaded: `1GB`, `500MB`, or bytes. A process that has grown further is replaced by another one when its model was idle for `growthIdle`: memory of WebAssembly and arenas of engines never shrink. Default: "1GB". */
  readonly maxProcessGrowth?: number | string;
  /** Time without a call after which a process that has grown by more than `maxProcessGrowth` is replaced. `0`: never. Default: "1m". */
  readonly growthIdle?: number | string;
  /** Tokens of a turn of a text, where a language model has more clients than sequences that run at once: then the text is parked for that of another client (more). Default: 64. */
  readonly turnTokens?: number;
  /** Sequences of a language model that a client without running texts gets at once, for the first turn of a text, though no turn of another client is over. Others use them meanwhile. Default: 1. */
  readonly reservedSequences?: number;
  /** Maximum memory of the caches of the parked texts of one language model: `1GiB`, `500MB`, or bytes. A cache beyond it is dropped, and computed again when the text goes on. Default: "1GiB". */
  readonly maxParkedMemory?: number | string;
  /** Whether texts by a JSON schema, and arguments of tools, may have members that the schema does not list, as the specification allows where `additionalProperties` is left out (more). Requests may say otherwise. Default: false. */
  readonly unlistedMembers?: boolean;
  /** Maximum memory of one run besides the weights, by an estimate from the shapes of its inputs: `2GB`, `500MB`, or bytes. A batch of independent rows is split; a run that cannot be split fails with `LIMIT_EXCEEDED`. Not set: no limit; for `serve`, a quarter of the machine's memory. */
  readonly maxRunMemory?: number | string;
  /** Maximum memory of decoded pictures at a time, counted as 8 bytes a pixel: `1GiB`, `500MB`, or bytes. Further pictures wait in the order of their calls; one that takes more alone fails with `LIMIT_EXCEEDED`. Default: "512MiB". */
  readonly maxPictureMemory?: number | string;
  /** Maximum time the native engine may take to compile a model for one set of input shapes, plus one second per 8 million elements of the weights. A model that takes longer is refused on `native`, and the next target is tried. Default: "30s". */
  readonly maxTraceTime?: number | string;
  /** Maximum memory the native engine may hold while it compiles a model, plus 16 bytes per element of the weights. A model that takes more is refused on `native`, and the next target is tried. Default: "512MiB". */
  readonly maxTraceMemory?: number | string;
  /** Number of crashes of a model's thread or process within `crashWindow` that open the circuit: the model is not started on that target for the same time, and calls fail with `CIRCUIT_OPEN` or, while loading, use the next target. Default: 5. */
  readonly maxCrashes?: number;
  /** Time over which crashes are counted, and for which the circuit stays open. Default: "1m". */
  readonly crashWindow?: number | string;
  /** Maximum time to load a model on one target, including verification, without download and waiting for memory. `0`: no limit. After it the model's process is killed, which counts as a crash (`maxCrashes`), and the next target is tried. Default: "10m". */
  readonly loadTimeout?: number | string;
  /** Maximum time of one run: one batch, or one call with tensors. `0`: no limit. A longer one is a hang: the model's process is killed, which counts as a crash, its calls fail with `HOST_DIED`, and the next call starts a new process. Not set: no limit; for `serve`, the longest `requestTimeout`. */
  readonly runTimeout?: number | string;
  /** Whether downloads are disabled: a model that is not on this machine is then an error. `HF_HUB_OFFLINE=1` has the same effect where this setting is not set. Default: false. */
  readonly offline?: boolean;
}

/** Those that have a default. */
export type RuntimeDefaults = Required<
  Pick<
    RuntimeOptions,
    | "replicas"
    | "ranks"
    | "memoryWait"
    | "keepAlive"
    | "failover"
    | "whileCompiling"
    | "maxProcessGrowth"
    | "growthIdle"
    | "turnTokens"
    | "reservedSequences"
    | "maxParkedMemory"
    | "unlistedMembers"
    | "maxPictureMemory"
    | "maxTraceTime"
    | "maxTraceMemory"
    | "maxCrashes"
    | "crashWindow"
    | "loadTimeout"
    | "offline"
  >
>;
