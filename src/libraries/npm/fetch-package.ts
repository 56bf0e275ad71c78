/** Fetches and unpacks tarballs of npm packages, each held against its digest. No script of a package runs. */
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { rootCertificates } from "node:tls";
import { extract } from "tar";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { proxiedFetch } from "../../models/hub/proxy.ts";
import type { Network } from "../../models/hub/request.ts";
import { type RetryTiming, defaultTiming } from "../../models/hub/retry.ts";
import { ContentMismatchError, transfer } from "../../models/hub/transfer.ts";
import { readChunks } from "../../platform/node/read-chunks.ts";
import type { UserFacts } from "../../storage/data-folder.ts";
import { withDiskErrors } from "../../storage/disk.ts";
import type { EnginePackage } from "./engine-package.ts";
import { type PackageMachine, packageName } from "./engine-packages.ts";
import type { NpmSettings } from "./npm-settings.ts";

/** Where tarballs come from. */
export type PackageSource =
  /** A folder on this machine, with files named as `npm pack` names them. */
  | { readonly folder: string }
  | { readonly settings: NpmSettings; readonly fetch: Network["fetch"]; readonly timing?: RetryTiming };

/** Bytes of one package. The largest one that is known has 0.35 GB. */
const maxTarballBytes = 2 * 1024 ** 3;

/** Returns the source for a registry: its settings, and a `fetch` with their proxy and certificates. Throws CONFIG_INVALID for certificates that cannot be read. */
export async function registrySource(settings: NpmSettings, environment: UserFacts["environment"]): Promise<PackageSource> {
  const { proxy, certificates } = settings;
  const proxies = proxy === undefined ? {} : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy };
  let authorities: readonly string[] | undefined;
  if (certificates !== undefined) {
    const text = await readFile(certificates, "utf8").catch((error: unknown) => {
      throw new InferyardError("CONFIG_INVALID", `cafile ${certificates} of npm's settings cannot be read: ${getMessage(error)}`);
    });
    authorities = [...rootCertificates, text];
  }
  return { settings, fetch: await proxiedFetch({ ...environment, ...proxies }, authorities) };
}

/** The name that `npm pack` gives a tarball: "@scope/name" 1.0.0 is "scope-name-1.0.0.tgz". */
export function tarballName(entry: EnginePackage): string {
  return `${packageName(entry).replace(/^@/, "").replace("/", "-")}-${entry.version}.tgz`;
}

/**
 * Puts the tarball of a package at the path `target`, and checks its digest. What an earlier attempt fetched is kept. Throws DOWNLOAD_FAILED if it has another
 * digest, is missing, or the registry cannot be reached; ACCESS_DENIED, LIMIT_EXCEEDED, DISK_FULL, OUTPUT_FAILED and ABORTED. `onBytes`: called with the bytes
 * that arrive.
 */
export async function fetchTarball(
  entry: EnginePackage,
  source: PackageSource,
  target: string,
  { signal, onBytes }: { readonly signal?: AbortSignal | undefined; readonly onBytes: (bytes: number) => void },
): Promise<void> {
  const name = tarballName(entry);
  if ((await stat(target).catch(() => undefined)) !== undefined && (await hasDigest(entry, target))) return;
  if ("folder" in source) {
    const path = join(source.folder, name);
    if ((await stat(path).catch(() => undefined)) === undefined)
      throw new InferyardError("DOWNLOAD_FAILED", `there is no ${name} in ${source.folder}`, {
        remedy: `npm pack ${packageName(entry)}@${entry.version} makes it`,
      });
    await withDiskErrors(target, () => copyFile(path, target));
  } else {
    const { settings, fetch, timing = defaultTiming } = source;
    const registry = settings.registryOf(packageName(entry));
    const url = `${registry}/${packageName(entry)}/-/${packageName(entry).split("/").at(-1)}-${entry.version}.tgz`;
    const authorization = settings.authorizationOf(url);
    const network: Network = { fetch, endpoint: new URL(registry).origin, timing, ...omitUndefined({ authorization }) };
    let bytes = 0;
    const partial = `${target}.part`;
    const count = (more: number): void => {
      bytes += more;
      onBytes(more);
      if (bytes > maxTarballBytes) throw new InferyardError("LIMIT_EXCEEDED", `${name} has more than ${maxTarballBytes} bytes`);
    };
    await transfer(network, {
      url,
      what: name,
      partial,
      git: false,
      signal,
      onExisting: count,
      onReceived: count,
      onDiscarded: (discarded) => count(-discarded),
      onRetry: () => undefined,
    }).catch((error: unknown) => {
      throw error instanceof ContentMismatchError ? mismatch(name, error.message) : registryError(name, error);
    });
    await withDiskErrors(target, () => rename(partial, target));
  }
  if (await hasDigest(entry, target)) return;
  await rm(target, { force: true });
  throw mismatch(name, `its digest is not ${entry.integrity}`);
}

async function hasDigest({ integrity }: EnginePackage, path: string): Promise<boolean> {
  const hash = createHash("sha512");
  for await (const chunk of readChunks(path)) hash.update(chunk);
  return `sha512-${hash.digest("base64")}` === integrity;
}

/** Unpacks a tarball for a machine into its path below `folder`: files and folders alone, which tar keeps below the folder. Throws DOWNLOAD_FAILED for a damaged one. */
export async function unpackTarball(
  entry: EnginePackage,
  tarball: string,
  folder: string,
  machine: PackageMachine,
): Promise<void> {
  const target = join(folder, ...entry.path.split("/"));
  await withDiskErrors(target, () => mkdir(target, { recursive: true }));
  try {
    await extract({
      file: tarball,
      cwd: target,
      strip: 1, // the folder "package"
      preserveOwner: false,
      filter: (path, file) =>
        isForMachine(path, machine) && "type" in file && ["File", "OldFile", "Directory"].includes(file.type),
    });
  } catch (error) {
    throw mismatch(`${packageName(entry)}${sep}${entry.version}`, `it cannot be unpacked: ${getMessage(error)}`);
  }
}

/** onnxruntime-node has the binaries of all machines: package/bin/napi-v6/<platform>/<architecture>/. Only those of one machine are unpacked. */
function isForMachine(path: string, machine: PackageMachine): boolean {
  const [, platform, architecture] = /^package\/bin\/napi-v\d+\/([^/]+)\/([^/]+)\//.exec(path) ?? [];
  return platform === undefined || (platform === machine.platform && architecture === machine.architecture);
}

function mismatch(name: string, problem: string): InferyardError {
  return new InferyardError("DOWNLOAD_FAILED", `${name} is not the package that Inferyard was tested with: ${problem}`, {
    remedy: "try again later; if it stays so, the registry or something on the way changes the file",
  });
}

function registryError(name: string, error: unknown): unknown {
  if (!(error instanceof InferyardError) || !["DOWNLOAD_FAILED", "MODEL_NOT_FOUND", "ACCESS_DENIED"].includes(error.code))
    return error;
  const code = error.code === "MODEL_NOT_FOUND" ? "DOWNLOAD_FAILED" : error.code;
  return new InferyardError(code, `${name} could not be fetched: ${error.message}`, {
    remedy: "check the network, the registry and its token (.npmrc, npm_config_registry), and the proxy (HTTPS_PROXY)",
    cause: error,
  });
}
