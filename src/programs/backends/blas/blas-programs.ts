/** The backend `blas` of programs: matrix products by a library of this machine, everything else by the engine. */
import { omitUndefined } from "../../../contract/checked.ts";
import { getMessage, InferyardError } from "../../../contract/errors.ts";
import type { CpuFacts } from "../../../contract/backend.ts";
import { nodeSources, threadsFor } from "../../../devices/index.ts";
import { readCpu } from "../../../devices/cpu/cpu.ts";
import { isKoffiInstalled, koffiInstall } from "../../../libraries/ffi/koffi.ts";
import type { DeviceSettings, ProgramAvailability, ProgramBackend, ProgramDevice } from "../../interface/program-backend.ts";
import { createEngineState, openEngineDevice, probeEngine } from "../native-programs.ts";
import { blasVariable, type BlasFile, findBlas } from "./find-blas.ts";
import type { BlasLibrary } from "./blas-library.ts";
import { MatrixProducts } from "./matrix-products.ts";
import { openProvedBlas } from "./prove-blas.ts";

/** Options of the backend. */
export interface BlasProgramsOptions {
  /** Paths of the libraries to try, in this order, separated as in PATH. Default: the variable INFERYARD_BLAS_LIBRARY, else the libraries that are found. */
  readonly library?: string;
}

/** A proved library and why it was tried, or why there is none. */
type Found = { readonly library: BlasLibrary; readonly foundBy: string } | { readonly reason: string; readonly remedy?: string };

const kinds = ["mkl", "openblas", "blis", "onednn"] as const;
const anyInstallation = "apt-get install libopenblas0-pthread, or pip install scipy-openblas32";
/** Commands by qualifier. */
const installations: Readonly<Record<string, string>> = {
  mkl: "pip install mkl",
  blis: "apt-get install libblis4-pthread",
  onednn: "pip install onednn-cpu-gomp",
  openmp: "apt-get install libopenblas0-openmp, or pip install mkl",
};

/**
 * The backend `blas`. Its qualifiers require something of the library: "mkl", "openblas", "blis" and "onednn" its maker, "openmp" threads of OpenMP; "xeon" requires a
 * processor with AVX-512, and tries MKL first. What was found is kept.
 */
export function blasPrograms({ library }: BlasProgramsOptions = {}): ProgramBackend {
  const engine = createEngineState();
  const found = new Map<string, Promise<Found>>();
  const proved = new Map<string, Promise<BlasLibrary>>();
  const find = async (qualifier: string | undefined): Promise<Found> => {
    const key = qualifier ?? "";
    const known = found.get(key) ?? findLibrary(qualifier, library, proved);
    found.set(key, known);
    return await known;
  };
  return {
    name: "blas",
    qualifiers: [...kinds, "openmp", "xeon"],
    probe: async (qualifier) => {
      const ofEngine = probeEngine(undefined, engine);
      return ofEngine.isAvailable ? describe(await find(qualifier)) : ofEngine;
    },
    open: async (settings) => await open(settings, await find(settings.qualifier), engine),
  };
}

function describe(found: Found): ProgramAvailability {
  if ("reason" in found) return { isAvailable: false, ...found };
  const { library, path } = found.library;
  const reason = `matrix products by ${path} (${library.name} ${library.version}, found by ${found.foundBy}) are right`;
  return { isAvailable: true, reason, library, devices: ["cpu"] };
}

async function open(
  settings: DeviceSettings,
  found: Found,
  engine: ReturnType<typeof createEngineState>,
): Promise<ProgramDevice> {
  if ("reason" in found) throw new InferyardError("BACKEND_UNAVAILABLE", found.reason, omitUndefined({ remedy: found.remedy }));
  const { qualifier, mode } = settings;
  const threads = threadsFor(await readCpu(nodeSources()), settings.threads ?? (mode === "throughput" ? 1 : undefined));
  const products = new MatrixProducts(found.library, threads);
  const { library, path } = found.library;
  return await openEngineDevice({ ...settings, qualifier: undefined, threads }, engine, {
    target: qualifier === undefined ? "blas" : `blas:${qualifier}`,
    library,
    rewrite: (graph) => products.replaceIn(graph),
    evidence: () => [
      `${library.name} ${library.version} (${path}) was called for ${products.calls} matrix products on up to ${threads} threads; steps with them count as interpreted`,
    ],
  });
}

/** The first library that meets the qualifier and is right. */
async function findLibrary(
  qualifier: string | undefined,
  named: string | undefined,
  proved: Map<string, Promise<BlasLibrary>>,
): Promise<Found> {
  if (!isKoffiInstalled()) return { reason: "koffi, which calls libraries, is not installed", remedy: koffiInstall };
  const cpu = await readCpu(nodeSources());
  if (qualifier === "xeon" && !hasAvx512(cpu))
    return { reason: `${cpu.model.value} has no AVX-512`, remedy: "ask for blas, which takes a library on any processor" };
  const kind = kinds.find((each) => each === qualifier);
  const files = (await findBlas(named)).filter((file) => kind === undefined || file.kind === undefined || file.kind === kind);
  const isFirst = (file: BlasFile): boolean => qualifier === "xeon" && file.kind === "mkl";
  const refused: string[] = [];
  for (const file of [...files.filter(isFirst), ...files.filter((each) => !isFirst(each))]) {
    try {
      const opened = proved.get(file.path) ?? openProvedBlas(file.path, threadsFor(cpu));
      proved.set(file.path, opened);
      const library = await opened;
      if ((kind ?? library.kind) !== library.kind) refused.push(`${file.path} is ${library.library.name}`);
      else if (qualifier === "openmp" && !library.usesOpenMp) refused.push(`${file.path} has threads of its own, without OpenMP`);
      else return { library, foundBy: file.foundBy };
    } catch (error) {
      refused.push(getMessage(error));
    }
  }
  const what = kind === undefined ? "library with matrix products" : `library of the kind ${kind}`;
  const reason = refused.length === 0 ? `no ${what} was found` : `no ${what} can be used: ${refused.join("; ")}`;
  return {
    reason,
    remedy: `install one: ${installations[qualifier ?? ""] ?? anyInstallation}; or name its file in ${blasVariable}`,
  };
}

function hasAvx512({ features }: CpuFacts): boolean {
  return features.value.some((feature) => /^AVX-?512/i.test(feature));
}
