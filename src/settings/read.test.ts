import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InferyardError } from "../contract/errors.ts";
import { type EffectiveSettings, type SettingsSources, readSettings } from "./read.ts";
import { settingDefaults, settingNames } from "./settings.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "inferyard-settings-"));
});
afterEach(() => rm(directory, { recursive: true }));

const read = (sources: Partial<SettingsSources> = {}): Promise<EffectiveSettings> =>
  readSettings({ environment: {}, directory, ...sources });

async function yaml(text: string, name = "inferyard.yaml"): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

async function refusal(work: Promise<unknown>): Promise<InferyardError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof InferyardError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

describe("where a value comes from", () => {
  it("without any source the defaults hold, and say so", async () => {
    const { values, origins } = await read();
    expect(values).toEqual(settingDefaults);
    expect(new Set(Object.values(origins))).toEqual(new Set(["default"]));
    expect(Object.keys(origins).toSorted()).toEqual(Object.keys(settingDefaults).toSorted());
  });

  it("default, file, environment, flag: the later wins, and each value names its origin", async () => {
    const path = await yaml("model: from-file\npolicy: manifest\nthreads: 1\nreplicas: 2\n");
    const { values, origins } = await read({
      environment: { INFERYARD_MODEL: "from-environment", INFERYARD_THREADS: "2", PATH: "/bin", OTHER_MODEL: "x" },
      flags: { threads: 3, graphOptimization: "basic" },
    });
    expect(values).toEqual({
      ...settingDefaults,
      model: "from-environment",
      policy: "manifest",
      replicas: 2,
      threads: 3,
      graphOptimization: "basic",
    });
    expect(origins).toMatchObject({
      keepAlive: "default",
      policy: path,
      replicas: path,
      model: "INFERYARD_MODEL",
      threads: "--threads",
      graphOptimization: "--graph-optimization",
    });
  });

  it("values are replaced, not merged: a list in the environment takes the place of the file's", async () => {
    await yaml("prefer: [onnx:cuda, wasm]\n");
    expect((await read({ environment: { INFERYARD_PREFER: "native" } })).values.prefer).toBe("native");
  });

  it("a file of any name, by flag or by variable; the flag wins, and a file that is named must be there", async () => {
    await yaml("model: ordinary\n");
    const [one, other] = [await yaml("model: one\n", "one.yaml"), await yaml("model: other\n", "other.yaml")];
    const environment = { INFERYARD_CONFIG: one };
    expect((await read()).values.model).toBe("ordinary");
    expect((await read({ environment })).values.model).toBe("one");
    expect((await read({ environment, file: other })).values.model).toBe("other");
    const error = await refusal(read({ file: join(directory, "none.yaml") }));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain("none.yaml cannot be read");
  });

  it("inferyard.yaml that cannot be read is an error, not an absence", async () => {
    expect((await refusal(read({ file: directory }))).message).toContain("cannot be read");
  });

  it("an empty file, or one of comments, changes nothing", async () => {
    await yaml("# nothing yet\n");
    expect((await read()).values).toEqual(settingDefaults);
  });

  it("takes every setting from the file", async () => {
    const all = {
      model: "./m",
      variant: "int8",
      policy: "manifest",
      priority: ["wasm", "onnx"],
      prefer: "onnx:cuda",
      target: ["onnx", "wasm"],
      exclude: ["native"],
      gpu: "auto",
      models: { "./m": { target: "wasm", prefer: ["onnx", "native"] } },
      host: "inline",
      library: "./libllama.so",
      xla: { plugin: "./plugin.so", buckets: { batch: [1, 8] } },
      threads: 4,
      graphOptimization: "disabled",
      cpuNodes: "allow",
      memoryPattern: false,
      memoryArena: false,
      contextLength: 2048,
      allowSmallerContext: true,
      cachePrecision: "fp16",
      i2sLayout: "arm",
      kernels: ["Q4_K_Wasm", "Q4_K_Scalar"],
      machineCode: "avx2",
      tlTiles: ["3200x8640=160/96/32"],
      adapters: [{ path: "./adapter.gguf", scale: 0.5 }],
      replicas: "auto",
      batchTokens: 256,
      placement: "pool",
      ranks: 3,
      maxMemory: "2GB",
      maxDeviceMemory: { "cuda:0": 8e9 },
      maxLoadedModels: 3,
      memoryWait: "10s",
      keepAlive: 0,
      failover: true,
      whileCompiling: "next",
      maxProcessMemory: "2GB",
      maxProcessGrowth: 2,
      growthIdle: "1m",
      turnTokens: 64,
      reservedSequences: 0,
      maxParkedMemory: "512MB",
      unlistedMembers: true,
      maxRunMemory: "1GB",
      maxPictureMemory: "1GB",
      maxTraceTime: "10s",
      maxTraceMemory: "256MiB",
      maxCrashes: 3,
      crashWindow: "30s",
      loadTimeout: "2m",
      runTimeout: "40s",
      offline: true,
      server: { port: 9000, models: { mine: "./m" }, preload: ["mine"], drainTimeout: "5s" },
    };
    expect(Object.keys(all)).toEqual(settingNames);
    await yaml(JSON.stringify(all)); // JSON is YAML
    expect((await read()).values).toEqual(all);
  });
});

describe("the environment is text", () => {
  it.each([
    ["INFERYARD_THREADS", "4", "threads", 4],
    ["INFERYARD_FAILOVER", "true", "failover", true],
    ["INFERYARD_FAILOVER", "false", "failover", false],
    ["INFERYARD_OFFLINE", "1", "offline", true],
    ["INFERYARD_OFFLINE", "0", "offline", false],
    ["INFERYARD_MEMORY_PATTERN", "false", "memoryPattern", false],
    ["INFERYARD_MEMORY_ARENA", "true", "memoryArena", true],
    ["INFERYARD_REPLICAS", "auto", "replicas", "auto"],
    ["INFERYARD_REPLICAS", "3", "replicas", 3],
    ["INFERYARD_KEEP_ALIVE", "10m", "keepAlive", "10m"],
    ["INFERYARD_KEEP_ALIVE", "0", "keepAlive", 0],
    ["INFERYARD_MODEL", "123", "model", "123"],
    ["INFERYARD_MODEL", "true", "model", "true"],
    ["INFERYARD_TARGET", "onnx:cpu,wasm", "target", "onnx:cpu,wasm"],
    ["INFERYARD_PRIORITY", "wasm, onnx", "priority", ["wasm", "onnx"]],
  ] as const)("%s=%s", async (variable, text, name, value) => {
    const { values, origins } = await read({ environment: { [variable]: text } });
    expect(values[name]).toEqual(value);
    expect(origins[name]).toBe(variable);
  });

  it("an empty variable is not set", async () => {
    expect((await read({ environment: { INFERYARD_THREADS: "", INFERYARD_MODEL: undefined } })).values).toEqual(settingDefaults);
  });

  it.each([
    ["INFERYARD_THREADS", "many", "threads"],
    ["INFERYARD_THREADS", "0", "threads"],
    ["INFERYARD_FAILOVER", "yes", "failover"],
    ["INFERYARD_HOST", "elsewhere", "host"],
    ["INFERYARD_MAX_MEMORY", "plenty", "maxMemory"],
  ])("%s=%s is refused by the setting's name", async (variable, text, name) => {
    const error = await refusal(read({ environment: { [variable]: text } }));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(`the environment: ${name}: `);
  });
});

describe("the section server in the environment", () => {
  it("has a variable for each of its settings, which joins those of the file and wins over the same one", async () => {
    const path = await yaml("server: { port: 9000, maxTexts: 5, cors: ['https://a.example'] }\n");
    const environment = {
      INFERYARD_SERVER_PORT: "9001",
      INFERYARD_SERVER_ALLOW_ANONYMOUS: "1",
      INFERYARD_SERVER_TRUST_PROXY: "false",
      INFERYARD_SERVER_CORS: "https://b.example, https://c.example",
      INFERYARD_SERVER_MAX_QUEUE: "0",
      INFERYARD_SERVER_REQUEST_TIMEOUT: "5s",
      INFERYARD_SERVER_DRAIN_TIMEOUT: "",
    };
    const { values, origins } = await read({ environment });
    expect(values.server).toEqual({
      port: 9001,
      maxTexts: 5,
      cors: ["https://b.example", "https://c.example"],
      allowAnonymous: true,
      trustProxy: false,
      maxQueue: 0,
      requestTimeout: "5s",
    });
    const variables = Object.keys(environment).filter((name) => name !== "INFERYARD_SERVER_DRAIN_TIMEOUT");
    expect(origins.server).toBe([path, ...variables].join(", "));
    expect((await read({ environment: { INFERYARD_SERVER_PORT: "1" }, directory: tmpdir() })).values.server).toEqual({ port: 1 });
  });

  it.each([
    ["INFERYARD_SERVER_PORT", "udp:8080", "server.port: "],
    ["INFERYARD_SERVER_LOG_LEVEL", "loud", "server.logLevel: "],
    ["INFERYARD_SERVER_KEYS", "abc", "server.keys: "],
    ["INFERYARD_SERVER", "port: 1", "server: "],
    ["INFERYARD_SERVER_PROT", "1", "unknown variable INFERYARD_SERVER_PROT (did you mean INFERYARD_SERVER_PORT?)"],
  ])("%s=%s is refused by name", async (variable, text, words) => {
    expect((await refusal(read({ environment: { [variable]: text } }))).message).toContain(words);
  });
});

describe("the section xla", () => {
  it("is joined of the file and of variables, and so are its buckets", async () => {
    const path = await yaml("xla: { plugin: ./a.so, memoryFraction: 0.5, buckets: { batch: [1, 8], sequence: [32] } }\n");
    const environment = {
      INFERYARD_XLA_PLUGIN: "./b.so",
      INFERYARD_XLA_MEMORY_FRACTION: "0.25",
      INFERYARD_XLA_BUCKETS_SEQUENCE: "64, 128",
    };
    const { values, origins } = await read({ environment });
    const buckets = { batch: [1, 8], sequence: [64, 128] };
    expect(values.xla).toEqual({ plugin: "./b.so", memoryFraction: 0.25, buckets });
    expect(origins.xla).toBe([path, ...Object.keys(environment)].join(", "));
    const alone = await read({ environment: { INFERYARD_XLA_BUCKETS_BATCH: "4" }, directory: tmpdir() });
    expect(alone.values.xla).toEqual({ buckets: { batch: [4] } });
  });

  it.each([
    ["INFERYARD_XLA_MEMORY_FRACTION", "1.5", "xla.memoryFraction: "],
    ["INFERYARD_XLA_MEMORY_FRACTION", "0", "xla.memoryFraction: "],
    ["INFERYARD_XLA_BUCKETS_BATCH", "8, 4", "xla.buckets.batch: "],
    ["INFERYARD_XLA_PROGRAM_CACHE_BYTES", "4GB", "xla.programCacheBytes: "],
    ["INFERYARD_XLA_BUCKETS_SEQUENCE", "0, 16", "xla.buckets.sequence"],
    ["INFERYARD_XLA_BUCKETS_SEQUENCE", "wide", "xla.buckets.sequence: "],
    ["INFERYARD_XLA", "plugin: a", "xla: "],
    ["INFERYARD_XLA_BUCKETS_ROWS", "1", "unknown variable INFERYARD_XLA_BUCKETS_ROWS"],
  ])("%s=%s is refused by name", async (variable, text, words) => {
    expect((await refusal(read({ environment: { [variable]: text } }))).message).toContain(words);
  });

  it.each([
    ["xla: { buckets: { rows: [1] } }", 'xla.buckets: unknown key "rows"'],
    ["xla: { buckets: { batch: [8, 4] } }", "xla.buckets.batch: must be in ascending order"],
    ["xla: { memoryFraction: 1.5 }", "xla.memoryFraction: must be at most 1"],
    ["xla: { memoryFraction: 0 }", "xla.memoryFraction: must be above 0"],
    ["xla: { programCacheBytes: -1 }", "xla.programCacheBytes: must be at least 0"],
    ["xla: { programCacheBytes: 1.5 }", "xla.programCacheBytes: must be a whole number"],
    ["xla: { buckets: [16] }", "xla.buckets"],
    ["xla: { plugins: a }", "xla: unknown key"],
  ])("%s is refused", async (text, words) => {
    await yaml(`${text}\n`);
    expect((await refusal(read())).message).toContain(words);
  });
});

it("reads the use of accelerators from INFERYARD_GPU", async () => {
  expect((await read({ environment: { INFERYARD_GPU: "off" } })).values.gpu).toBe("off");
  expect((await refusal(read({ environment: { INFERYARD_GPU: "nvidia" } }))).message).toContain("gpu: ");
});

describe("variables of a Service called inferyard", () => {
  // What Kubernetes 1.31 sets for Services "inferyard" (ports 8080 "http" and 9090) and "inferyard-server", and Docker's --link.
  const service = {
    INFERYARD_SERVICE_HOST: "10.96.12.7",
    INFERYARD_SERVICE_PORT: "8080",
    INFERYARD_SERVICE_PORT_HTTP: "8080",
    INFERYARD_PORT: "tcp://10.96.12.7:8080",
    INFERYARD_PORT_8080_TCP: "tcp://10.96.12.7:8080",
    INFERYARD_PORT_8080_TCP_PROTO: "tcp",
    INFERYARD_PORT_8080_TCP_PORT: "8080",
    INFERYARD_PORT_8080_TCP_ADDR: "10.96.12.7",
    INFERYARD_PORT_9090_UDP: "udp://10.96.12.7:9090",
    INFERYARD_SERVER_SERVICE_HOST: "fd00::7",
    INFERYARD_SERVER_SERVICE_PORT: "80",
    INFERYARD_SERVER_PORT: "tcp://[fd00::7]:80",
  };

  it("are ignored, and named; settings beside them are read", async () => {
    const { values, ignoredVariables } = await read({ environment: { ...service, INFERYARD_THREADS: "3" } });
    expect(values.threads).toBe(3);
    expect(values.server).toBeUndefined();
    expect(ignoredVariables).toEqual(Object.keys(service));
  });

  it.each([
    ["INFERYARD_PORT", "8080"],
    ["INFERYARD_SERVICE_PORT", "8080"], // without a host there is no Service
    ["INFERYARD_SERVICE_HOST", "not an address"],
    ["INFERYARD_PORTS", "tcp://10.0.0.1:80"],
  ])("are not %s=%s, which stays an error", async (name, text) => {
    expect((await refusal(read({ environment: { [name]: text } }))).message).toContain(`unknown variable ${name}`);
  });

  it("do not hide the server's port", async () => {
    const { values } = await read({ environment: { ...service, INFERYARD_SERVER_PORT: "8081" } });
    expect(values.server).toEqual({ port: 8081 });
  });
});

describe("an unknown key is an error that names the nearest right one", () => {
  it("in the file", async () => {
    const path = await yaml("theads: 2\n");
    const error = await refusal(read());
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toBe(`${path}: unknown key "theads" (did you mean "threads"?)`);
    expect(error.remedy).toContain("inferyard config");
  });

  it("in a model's own constraints", async () => {
    await yaml("models:\n  ./m:\n    prefr: wasm\n");
    expect((await refusal(read())).message).toContain('models../m: unknown key "prefr" (did you mean "prefer"?)');
  });

  it("in the environment", async () => {
    const error = await refusal(read({ environment: { INFERYARD_KEEPALIVE: "1h" } }));
    expect(error.message).toBe("the environment: unknown variable INFERYARD_KEEPALIVE (did you mean INFERYARD_KEEP_ALIVE?)");
  });

  it("in lists of backends and targets", async () => {
    await yaml("priority: [wsam]\nexclude: bogus\nmodels:\n  ./m: { target: 'native:cdua' }\n");
    const { message } = await refusal(read());
    expect(message).toContain('priority: names the backend "wsam", and there is none of this name; did you mean "wasm"?');
    expect(message).toContain('exclude: names the backend "bogus", and there is none of this name; the backends are onnx, ');
    expect(message).toContain('models../m.target: names the device "cdua", and there is none of this name; did you mean "cuda"?');
    await yaml("priority: []\n");
    expect((await refusal(read())).message).toContain("priority: must name at least one backend, or be left out");
    await yaml("");
    expect((await refusal(read({ environment: { INFERYARD_EXCLUDE: "wsam" } }))).message).toContain('did you mean "wasm"?');
  });

  it("a knob that is not built says why, and what to do instead, in the file and in the environment", async () => {
    await yaml("sessionBuckets: 4\nthreads: 2\n");
    const { message } = await refusal(read());
    expect(message).toContain('there is no setting "sessionBuckets": xla pads inputs to the sizes of xla.buckets');
    expect(message).toContain("docs/guide/tuning.md");
    await yaml("threads: 2\n");
    const error = await refusal(read({ environment: { INFERYARD_CONCURRENCY_HINT: "8" } }));
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("set replicas to the number wanted"),
    });
  });

  it("a setting of another runtime names ours, in the file and in the environment", async () => {
    await yaml("backend_priority: [onnx, go]\nmax_memory_mb: 100\nmax_loaded_models: 2\n");
    const { message } = await refusal(read());
    expect(message).toContain('there is no setting "backend_priority": set priority, ');
    expect(message).toContain('there is no setting "max_memory_mb": set maxMemory, ');
    await yaml("max_loaded_models: 2\n");
    expect((await refusal(read())).message).toContain('did you mean "maxLoadedModels"?');
    await yaml("");
    const error = await refusal(read({ environment: { INFERYARD_BACKEND_PRIORITY: "onnx" } }));
    expect(error.message).toContain("there is no setting INFERYARD_BACKEND_PRIORITY: set priority, ");
  });

  it("with nothing near, no guess is made", async () => {
    await yaml("zzzzzzzz: 1\n");
    expect((await refusal(read())).message).toMatch(/unknown key "zzzzzzzz" \(it may have model, /);
  });
});

describe("values of the wrong kind", () => {
  it("says where loading ahead is asked for", async () => {
    await yaml("preload: [a]\n");
    expect((await refusal(read())).message).toContain("section server");
    await yaml("server: { prelod: [a] }\n");
    expect((await refusal(read())).message).toContain('server: unknown key "prelod" (did you mean "preload"?)');
  });

  it("are all listed in one error, unknown keys among them", async () => {
    await yaml("threads: four\nfailover: 7\nbatchTokens: -1\npolicy: cheapest\nmodle: x\n");
    const { message, data } = await refusal(read());
    for (const name of ["threads", "failover", "batchTokens", "policy"]) expect(message).toContain(`${name}: `);
    expect(message).toContain('unknown key "modle" (did you mean "model"?)');
    expect(data["problems"]).toHaveLength(5);
  });

  it.each(["- a\n- b\n", "just words\n", "7\n"])("a file that is no map: %j", async (text) => {
    await yaml(text);
    expect((await refusal(read())).code).toBe("CONFIG_INVALID");
  });

  it("a file that is no YAML names the file and the place", async () => {
    const path = await yaml("model: [1, 2\npolicy: x\n");
    const error = await refusal(read());
    expect(error.message).toContain(`${path}: not YAML: `);
    expect(error.message).toMatch(/line \d/);
  });

  it("a key given twice is refused, not resolved", async () => {
    await yaml("threads: 1\nthreads: 2\n");
    expect((await refusal(read())).code).toBe("CONFIG_INVALID");
  });
});
