/**
 * Every flag of every command arrives where its name says: in the settings of the runtime, in the options or arguments of the function of the library that
 * does the work, or in what is printed or written. The library is one that notes what it is asked and computes nothing. What the options do is seen in
 * test/tasks/every-option.test.ts and test/cli/every-setting.test.ts; a flag of each kind is tried with real models in test/cli/option-kinds.long.test.ts.
 *
 * @isolated since it replaces modules by others
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commands as commandTable } from "../../src/cli/command-table.ts";
import { buildProgram, run } from "../../src/cli/main.ts";
import { type CommandResult, commandLine, discard } from "../fixtures/processes/command-streams.ts";
import { commandRows, loadRows, prepareFiles } from "./flags/command-rows.ts";
import { type FlagRow, globalFlags } from "./flags/flag-row.ts";
import { besidePictures } from "./flags/media-rows.ts";
import { settingRows } from "./flags/setting-rows.ts";
import { loadSettingNames } from "../../src/runtime/options/load-options.ts";
import { environmentName } from "../../src/settings/settings.ts";
import { type Call, asked, forget } from "./flags/recorded-library.ts";

vi.mock("../../src/api/create-runtime.ts", async () => {
  const { recordedRuntime } = await import("./flags/recorded-library.ts");
  return { createRuntime: async (settings: object) => recordedRuntime(settings) };
});
vi.mock("../../src/api/prepare-runtime.ts", async () => {
  const { recordedRuntime } = await import("./flags/recorded-library.ts");
  return { prepareRuntime: async (settings: object) => recordedRuntime(settings) };
});
vi.mock("../../src/models/model-store.ts", async () => {
  const { recorded } = await import("./flags/recorded-library.ts");
  const reports = {
    inventory: async () => ({ records: [], damaged: [] }),
    check: async () => ({ models: [], files: 0, bytes: 0, damaged: [], milliseconds: 1 }),
    prune: async () => ({ files: 0, bytes: 0 }),
  };
  return { createStore: () => ({ folder: "/none", pull: recorded("pull"), find: async () => undefined, ...reports }) };
});
vi.mock("../../src/cross-validation/index.ts", async () => {
  const { recorded } = await import("./flags/recorded-library.ts");
  return { crossValidate: recorded("crossValidate"), recordLogits: recorded("recordLogits") };
});
vi.mock("../../src/receipts/index.ts", async () => {
  const { recorded } = await import("./flags/recorded-library.ts");
  return { createReceipt: recorded("createReceipt", () => ({})), formatReceipt: () => "{}\n" };
});
vi.mock("../../src/receipts/verify-receipt.ts", async () => {
  const { recorded } = await import("./flags/recorded-library.ts");
  return { verifyReceipt: recorded("verifyReceipt"), requireAccepted: () => {} };
});
vi.mock("../../src/distillation/distill.ts", async () => ({
  distill: (await import("./flags/recorded-library.ts")).recorded("distill"),
}));
vi.mock("../../src/distillation/runtime-teacher.ts", () => ({ runtimeTeacher: async () => ({ recordedAs: "the teacher" }) }));
vi.mock("../../src/bundling/build-bundle.ts", async () => ({
  buildBundle: (await import("./flags/recorded-library.ts")).recorded("buildBundle"),
}));
vi.mock("../../src/models/aimod/pack.ts", async () => ({
  pack: (await import("./flags/recorded-library.ts")).recorded("pack"),
}));
vi.mock("../../src/models/gguf/quantize.ts", async (importOriginal) => {
  const { recorded } = await import("./flags/recorded-library.ts");
  return { ...(await importOriginal<object>()), quantizeGguf: recorded("quantizeGguf") };
});
vi.mock("../../src/programs/optimization/optimize-file.ts", async () => ({
  optimizeFile: (await import("./flags/recorded-library.ts")).recorded("optimizeFile"),
}));
vi.mock("../../src/inspection/index.ts", async (importOriginal) => {
  const { recorded } = await import("./flags/recorded-library.ts");
  const original = await importOriginal<{ readonly inspectModel: (model: string, options?: object) => Promise<unknown> }>();
  const inspectModel = (model: unknown, options: unknown) => original.inspectModel(model as string, options as object);
  return { ...original, inspectModel: recorded("inspectModel", inspectModel) };
});
vi.mock("../../src/cli/inspection/native-graph.ts", async () => ({
  graphText: (await import("./flags/recorded-library.ts")).recorded("graphText", () => "a graph"),
}));
vi.mock("../../src/tokenizers/index.ts", async (importOriginal) => {
  const { recordedTokenizer } = await import("./flags/recorded-library.ts");
  return { ...(await importOriginal<object>()), loadTokenizer: async () => recordedTokenizer };
});
const noKernels = vi.hoisted(() => ({
  machine: { architecture: "x64", simd: [], best: "scalar", cuda: { engines: [] } },
  kernels: [],
  closest: {},
}));
vi.mock("../../src/kernel-capabilities/index.ts", async () => ({
  kernelCapabilities: (await import("./flags/recorded-library.ts")).recorded("kernelCapabilities", () => noKernels),
}));
vi.mock("../../src/libraries/inventory/index.ts", async (importOriginal) => {
  const { recorded } = await import("./flags/recorded-library.ts");
  const inventory = { libraries: [], locations: [{ rule: "CUDA_HOME", outcome: "not set", libraries: 0, notes: [] }] };
  return { ...(await importOriginal<object>()), listLibraries: recorded("listLibraries", () => inventory) };
});
vi.mock("../../src/libraries/accelerators/index.ts", async () => ({
  listAccelerators: (await import("./flags/recorded-library.ts")).recorded("listAccelerators", () => []),
}));
vi.mock("../../src/libraries/validation/index.ts", async () => ({
  validateLibrary: (await import("./flags/recorded-library.ts")).recorded("validateLibrary"),
}));
vi.mock("../../src/backends/xla/plugins/install-plugin.ts", async () => {
  const { recorded } = await import("./flags/recorded-library.ts");
  return { installPlugin: recorded("installPlugin", () => ({})), removePlugins: recorded("removePlugins") };
});
vi.mock("../../src/server/handler.ts", async () => {
  const { recordedHandler } = await import("./flags/recorded-library.ts");
  return { createHandler: recordedHandler };
});
vi.mock("../../src/server/listen.ts", async () => ({
  listen: (await import("./flags/recorded-library.ts")).recorded("listen"),
}));
vi.mock("../../src/measuring/index.ts", async (importOriginal) => {
  const { measures, recorded, tuned } = await import("./flags/recorded-library.ts");
  const functions = {
    verifyModel: recorded("verifyModel"),
    benchmarkModel: measures("benchmarkModel"),
    tuneModel: measures("tuneModel", tuned),
  };
  return { ...(await importOriginal<object>()), ...functions };
});

const folder = mkdtempSync(join(tmpdir(), "inferyard-every-flag-"));
const [before, programWords] = [process.cwd(), process.argv];
beforeAll(() => {
  prepareFiles(folder);
  mkdirSync(directory);
  process.chdir(directory);
  vi.stubEnv("INFERYARD_HOME", join(folder, "home"));
});
afterAll(() => {
  process.chdir(before);
  process.argv = programWords;
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

interface Surroundings {
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** What a command line leads to. */
interface Seen extends Pick<CommandResult, "code" | "stdout" | "stderr"> {
  readonly settings: Call["request"] | undefined;
  readonly calls: readonly Call[];
  /** Files that it wrote. */
  readonly written: readonly string[];
}

const inferyard = commandLine(run);
/** Where files are written that have no path. */
const directory = join(folder, "current");

/** `environment`, `settings`: what variables and inferyard.yaml set. */
async function see(args: readonly string[], { environment = {}, settings: file = {} }: Surroundings = {}): Promise<Seen> {
  forget();
  if (Object.keys(file).length > 0) writeFileSync(join(directory, "inferyard.yaml"), JSON.stringify(file)); // JSON is YAML
  process.argv = ["node", "inferyard", ...args]; // what a process that measures is given
  const { code, stdout, stderr } = await inferyard(args, { directory, environment });
  const { settings, calls } = asked;
  const written = readdirSync(directory, { recursive: true }).map(String);
  for (const file of written) rmSync(join(directory, file), { recursive: true, force: true });
  return { code, stdout: stdout.replaceAll(/"milliseconds":[\d.]+/g, '"milliseconds":0'), stderr, settings, calls, written };
}

const known = new Map<string, Promise<Seen>>();

/** The same for a command line that several flags stand on. */
function seeOnce(args: readonly string[]): Promise<Seen> {
  const key = JSON.stringify(args);
  const seen = known.get(key) ?? see(args);
  known.set(key, seen);
  return seen;
}

/** What is seen with a flag if it does what its row says, and nothing else. `words`: the flag and its value; `place`: theirs on the command line. */
function changed(
  { settings, calls, stdout, written }: Seen,
  { arrives = {} }: FlagRow,
  words: readonly string[],
  place: number,
): object {
  const { settings: more, request, requests = {}, input } = arrives;
  const last = calls.length - 1;
  const changedCalls = calls.map((call, index) => {
    if (call.verb === "measure") return { ...call, input: [(call.input[0] as string[]).toSpliced(place, 0, ...words)] }; // it is passed on
    const isLast = index === last;
    const options = { ...call.request, ...requests[call.verb], ...(isLast ? request : {}) };
    return { ...call, ...(isLast && input !== undefined ? { input } : {}), request: options };
  });
  return { settings: settings && { ...modelsListed(settings), ...more }, calls: changedCalls, stdout, written };
}

/** A row whose option of loading arrives in the settings of the command's model as well as in those of the runtime; a server has no model of its own. */
function ofModelToo(name: string, row: FlagRow): FlagRow {
  const given = Object.entries(row.arrives?.settings ?? {}).filter(([option]) => loadSettingNames.includes(option as never));
  if (name === "serve" || given.length === 0) return row;
  return { ...row, arrives: { ...row.arrives, settings: { ...row.arrives?.settings, models: [Object.fromEntries(given)] } } };
}

/** Settings with those of single models as a list: commands name their models in many ways. */
function modelsListed(settings: Seen["settings"]): Seen["settings"] {
  const models = settings?.["models"];
  return models === undefined ? settings : { ...settings, models: Object.values(models as object) };
}

const program = await buildProgram({ stdout: discard(), stderr: discard() } as never, commandTable);
const flagsOf = (name: string): string[] =>
  (program.commands.find((command) => command.name() === name)?.options ?? [])
    .flatMap(({ long }) => (typeof long === "string" ? [long] : []))
    .filter((flag) => !globalFlags.has(flag));
const names = program.commands.map((command) => command.name());

describe("every flag", () => {
  it("has a row, and every row a flag", () => {
    const listed = names.flatMap((name) => Object.keys(rowsOf(name)).map((flag) => `${name} ${flag}`));
    expect(listed.toSorted()).toEqual(names.flatMap((name) => flagsOf(name).map((flag) => `${name} ${flag}`)).toSorted());
  });

  it("has a sentence in the help", () => {
    const all = program.commands.flatMap((command) => command.options.map((option) => [command.name(), option] as const));
    const silent = all.filter(([, { description, hidden }]) => !hidden && !/^\S.*(?:[^.]|\.\.\.)$/.test(description));
    expect(silent.map(([name, { long }]) => `${name} ${long}`)).toEqual([]);
  });
});

/** Rows of a command: its own flags, and the flags of loading if it has them. */
function rowsOf(name: string): Readonly<Record<string, FlagRow>> {
  const flags = flagsOf(name);
  const ofLoading = flags.includes("--threads") ? Object.entries(loadRows(name)).filter(([flag]) => flags.includes(flag)) : [];
  return { ...Object.fromEntries(ofLoading), ...commandRows(folder)[name]?.flags };
}

/** What is seen of a flag, and what its row demands. */
function compare(
  row: FlagRow,
  without: Seen,
  given: Seen,
  line: { readonly on: readonly string[]; readonly flag: string },
): unknown[] {
  const { value, arrives = {}, required = false, refused, shows, sees: looks, writes } = row;
  const both = (look: (seen: Seen) => boolean): unknown[] => [
    { without: look(without), given: look(given) },
    { without: false, given: true },
  ];
  const { verb, request, input } = arrives;
  if (refused !== undefined) return both(({ stderr }) => refused.test(stderr));
  if (verb !== undefined)
    return both(({ calls }) =>
      calls.some((call) => call.verb === verb && (input === undefined || isDeepStrictEqual(call.input, input))),
    );
  if (writes !== undefined) return both(({ written }) => written.includes(writes));
  if (shows === true)
    return [
      [given.code, given.stdout === without.stdout, request === undefined || given.calls.at(-1)?.request],
      [0, false, request === undefined || { ...without.calls.at(-1)?.request, ...request }],
    ];
  if (looks !== undefined) return [isDeepStrictEqual(looks(without), looks(given)), false];
  const [before, last] = [without.calls.at(-1), given.calls.at(-1)];
  if (required) return [last, { ...last, ...(input && { input }), request: { ...last?.request, ...request } }];
  if (row.last === true) return [last, { ...before, request: { ...before?.request, ...request } }];
  const { settings, calls, stdout, written } = given;
  return [
    { settings: modelsListed(settings), calls, stdout, written },
    changed(without, row, [line.flag, ...value], 1 + line.on.length),
  ];
}

/** What a row says of a flag is something that was not so without it. */
const saysSomething = ({ arrives = {}, ...row }: FlagRow): boolean =>
  Object.keys(arrives).length > 0 || "refused" in row || "writes" in row || "shows" in row || "sees" in row;

describe.each(names.filter((name) => flagsOf(name).length > 0))("%s", (name) => {
  const { on: usual = [], form = ["--json"] } = commandRows(folder)[name] ?? {};

  it.each(flagsOf(name))("%s", async (flag) => {
    await expectObeyed([name, flag], ofModelToo(name, rowsOf(name)[flag]!), usual, form);
  });
});

describe.each(Object.entries(besidePictures((name) => join(folder, name))))(
  "%s --image, and beside it",
  (name, { on, flags }) => {
    it.each(Object.entries(flags))("%s", async (flag, row) => {
      await expectObeyed([name, flag], row, on, ["--json"]);
    });
  },
);

/** Expects that a flag does what its row says, and nothing else. `usual`: the command line that rows stand on that have none; `form`: how it prints. */
async function expectObeyed(
  [name, flag]: readonly [command: string, flag: string],
  row: FlagRow,
  usual: readonly string[],
  form: readonly string[],
): Promise<void> {
  const { on = usual, value, required = false } = row;
  const args = [name, ...on, ...(row.plain === true ? [] : form)];
  const [without, given] = [await seeOnce(args), await see([...args, flag, ...value])];
  const [seen, demanded] = compare(row, without, given, { on, flag });
  expect(seen, given.stderr).toEqual(demanded);
  expect([saysSomething(row), isDeepStrictEqual(given, without)]).toEqual([true, false]);
  expect(without.stderr.includes(`required option '${flag} `)).toBe(required);
}

describe("--json is another form of what is printed by", () => {
  it.each<[string, ...string[]]>([
    ["completions", "bash"],
    ["analyze-library", join(folder, "libtiny.dylib")],
    ["check"],
    ["config"],
    ["doctor"],
    ["explain", "builtin"],
    ["inspect", join(folder, "model.onnx")],
    ["kernels"],
    ["libraries"],
    ["list"],
    ["prune"],
    ["show", "builtin"],
    ["tasks"],
    ["tokenize", "a"],
    ["version"],
  ])("%s", async (...args) => {
    const [plain, json] = [await see(args), await see([...args, "--json"])];
    expect([plain.code, json.code], plain.stderr + json.stderr).toEqual([0, 0]);
    expect(typeof JSON.parse(json.stdout)).toBe("object");
    expect(plain.stdout).not.toBe(json.stdout);
  });
});

describe("a setting in a variable, and in inferyard.yaml", () => {
  it.each(Object.entries(settingRows))("%s", async (name, { text, value, fromText = value, isOfCall = false }) => {
    const arrived = async (surroundings: Surroundings): Promise<unknown> => {
      const { settings, calls, code, stderr } = await see(["embed", "a"], surroundings);
      expect(code, stderr).toBe(0);
      expect(Object.keys(settings ?? {})).toEqual(isOfCall ? [] : [name]);
      return (isOfCall ? calls.at(-1)?.request : settings)?.[name];
    };
    expect(await arrived({ settings: { [name]: value } })).toEqual(value);
    if (text === undefined) return;
    expect(await arrived({ environment: { [environmentName(name)]: text } })).toEqual(fromText);
  });
});
