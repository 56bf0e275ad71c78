/** Asks the user's indexes of Python packages for a package, and chooses the file that fits a machine. No Python runs. */
import { readFile, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rootCertificates } from "node:tls";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage, quoteOption, invalidInput } from "../../contract/errors.ts";
import { type FetchFunction, proxiedFetch } from "../../models/hub/proxy.ts";
import { type Network, sendRequest } from "../../models/hub/request.ts";
import { type RetryTiming, defaultTiming, withRetries } from "../../models/hub/retry.ts";
import type { UserFacts } from "../../storage/data-folder.ts";
import type { PipSettings } from "./pip-settings.ts";
import { type IndexedFile, acceptedForms, parseIndexPage } from "./simple-index.ts";
import {
  type WheelMachine,
  type WheelName,
  compareWheelVersions,
  isPreRelease,
  normalizedPackage,
  parseWheelName,
  wheelMisfit,
} from "./wheel-name.ts";

/** Inputs of a search. */
export interface WheelSearch {
  /** Name of the package. */
  readonly package: string;
  /** Version of the package. Default: the newest one that is not a pre-release, else the newest. */
  readonly version?: string | undefined;
  readonly machine: WheelMachine;
  readonly settings: PipSettings;
  readonly environment: UserFacts["environment"];
  readonly signal?: AbortSignal | undefined;
  /** Attempts and delays of requests. Default: as for pulls. */
  readonly timing?: RetryTiming;
}

/** A wheel that fits, on an index or in a folder. */
export interface FoundWheel {
  readonly wheel: WheelName;
  readonly file: IndexedFile;
  /** Settings for fetching the file; undefined for a file of this machine, whose path is in `file.url`. */
  readonly network: Network | undefined;
}

/** Bytes of a page that are read. The largest pages of PyPI have about 10 MB. */
const maxPageBytes = 32 << 20;

/**
 * Finds the newest wheel of a package for a machine on all indexes; of equal versions, the first index's. Throws DOWNLOAD_FAILED if no index has the package or
 * an index cannot be reached, ACCESS_DENIED, CONFIG_INVALID for settings that name no index, and LIBRARY_INCOMPATIBLE with each reason if no file fits.
 */
export async function findWheel(search: WheelSearch): Promise<FoundWheel> {
  const { settings, machine } = search;
  const name = normalizedPackage(search.package);
  const fetch = await getFetch(search);
  const sources: Source[] = [
    ...settings.findLinks.map((location) => ({ location, isIndex: false })),
    ...settings.indexes.map((location) => ({ location, isIndex: true })),
  ];
  const found: FoundWheel[] = [];
  for (const source of sources) found.push(...(await listSource(source, name, search, fetch)));
  const wheels = found.filter(({ wheel, file }) => wheel.package === name && !file.isYanked);
  if (wheels.length === 0) throw missing(name, sources);
  const wanted = wheels.filter(({ wheel }) => search.version === undefined || wheel.version === search.version);
  const fitting = wanted.filter(({ wheel }) => wheelMisfit(wheel, machine) === undefined);
  const releases = fitting.filter(({ wheel }) => !isPreRelease(wheel.version));
  const best = (releases.length > 0 ? releases : fitting).toSorted((a, b) =>
    compareWheelVersions(b.wheel.version, a.wheel.version),
  )[0];
  if (best !== undefined) return best;
  const newest = (wanted.length > 0 ? wanted : wheels)
    .toSorted((a, b) => compareWheelVersions(b.wheel.version, a.wheel.version))
    .slice(0, 5);
  const reasons = newest.map(
    ({ wheel, file }) => `${file.name}: ${wheelMisfit(wheel, machine) ?? `its version is not ${search.version}`}`,
  );
  throw new InferyardError("LIBRARY_INCOMPATIBLE", `no file of the package ${name} fits this machine: ${reasons.join("; ")}`, {
    remedy: `name another index or file: ${quoteOption("from")}`,
  });
}

/** The wheel at a URL, whose fragment may state its digest (#sha256=...). Throws INPUT_INVALID for another file, LIBRARY_INCOMPATIBLE if it does not fit, and DOWNLOAD_FAILED for an address without TLS. */
export async function wheelAt(location: string, search: Omit<WheelSearch, "package">): Promise<FoundWheel> {
  const { url, authorization } = withoutCredentials(location);
  refuseUnprotected(url, search.settings.trustedHosts);
  const [file] = parseIndexPage(`<a href="${url.href.replaceAll('"', "%22")}">`, url.href, "text/html");
  const wheel = file === undefined ? undefined : parseWheelName(file.name);
  if (file === undefined || wheel === undefined)
    throw invalidInput(`${url.href} does not end in the name of a wheel`, "name the URL of a wheel or of an index");
  const misfit = wheelMisfit(wheel, search.machine);
  if (misfit !== undefined)
    throw new InferyardError("LIBRARY_INCOMPATIBLE", `${file.name} does not fit this machine: ${misfit}`, {
      remedy: `name a file for this machine: ${quoteOption("from")}`,
    });
  const network = { fetch: await getFetch(search), endpoint: url.origin, timing: search.timing ?? defaultTiming };
  return { wheel, file, network: authorization === undefined ? network : { ...network, authorization } };
}

interface Source {
  /** A URL, with a user name and password where it has them, or the path of a folder. */
  readonly location: string;
  readonly isIndex: boolean;
}

async function listSource(
  { location, isIndex }: Source,
  name: string,
  search: WheelSearch,
  fetch: FetchFunction,
): Promise<readonly FoundWheel[]> {
  const folder = getFolder(location);
  if (folder !== undefined) return await wheelsInFolder(isIndex ? join(folder, name) : folder);
  const { url, authorization } = withoutCredentials(location);
  refuseUnprotected(url, search.settings.trustedHosts);
  const network: Network = {
    fetch,
    endpoint: url.origin,
    timing: search.timing ?? defaultTiming,
    ...omitUndefined({ authorization }),
  };
  const page = isIndex ? `${url.href.replace(/\/*$/, "")}/${name}/` : url.href;
  const files = await readPage(page, network, search.signal);
  for (const { url: each } of files) refuseUnprotected(new URL(each), search.settings.trustedHosts);
  return files.flatMap((file) => {
    const wheel = parseWheelName(file.name);
    return wheel === undefined ? [] : [{ wheel, file, network }];
  });
}

/** The files of a page; none if the index does not have the package. */
async function readPage(page: string, network: Network, signal: AbortSignal | undefined): Promise<readonly IndexedFile[]> {
  const request = { url: page, what: page, signal, headers: { accept: acceptedForms } };
  try {
    return await withRetries({ timing: network.timing, what: page, url: page, signal }, () =>
      sendRequest(network, request, async (answer, body, url) => {
        const chunks: Uint8Array[] = [];
        let bytes = 0;
        for await (const chunk of body) {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > maxPageBytes) throw new InferyardError("LIMIT_EXCEEDED", `${page} has more than ${maxPageBytes} bytes`);
        }
        return parseIndexPage(Buffer.concat(chunks).toString("utf8"), url, answer.headers.get("content-type") ?? "");
      }),
    );
  } catch (error) {
    if (error instanceof InferyardError && error.code === "MODEL_NOT_FOUND") return [];
    throw indexError(error);
  }
}

/** Replaces the remedies in errors of requests, which are for the model hub, by remedies for an index of packages. */
export function indexError(error: unknown): unknown {
  if (!(error instanceof InferyardError)) return error;
  const remedies: Readonly<Record<string, string>> = {
    ACCESS_DENIED: "put a user name and password into the index URL (PIP_INDEX_URL, pip.conf)",
    DOWNLOAD_FAILED: "check the network, PIP_INDEX_URL and pip.conf, and the proxy (HTTPS_PROXY)",
    MODEL_NOT_FOUND: `check the index, or name another one: ${quoteOption("from")}`,
  };
  const remedy = remedies[error.code];
  if (remedy === undefined) return error;
  const code = error.code === "MODEL_NOT_FOUND" ? "DOWNLOAD_FAILED" : error.code;
  return new InferyardError(code, error.message, { remedy, data: error.data, cause: error });
}

async function wheelsInFolder(folder: string): Promise<readonly FoundWheel[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.flatMap((name) => {
    const wheel = parseWheelName(name);
    const file = { name, url: join(folder, name), digest: undefined, size: undefined, isYanked: false };
    return wheel === undefined ? [] : [{ wheel, file, network: undefined }];
  });
}

/** The path of a location that is no address of a network. */
function getFolder(location: string): string | undefined {
  if (/^https?:/i.test(location)) return undefined;
  return location.startsWith("file:") ? fileURLToPath(location) : resolve(location);
}

/** `fetch` refuses URLs with a user name and password, which are sent in a header. */
function withoutCredentials(location: string): { readonly url: URL; readonly authorization: string | undefined } {
  if (!URL.canParse(location))
    throw new InferyardError("CONFIG_INVALID", `"${location}" is no URL of an index of Python packages`, {
      remedy: `check PIP_INDEX_URL, pip.conf or ${quoteOption("from")}`,
    });
  const url = new URL(location);
  const { username, password } = url;
  url.username = "";
  url.password = "";
  if (username === "") return { url, authorization: undefined };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url, authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** Refuses what anybody on the way could replace, as pip does: addresses without TLS of hosts that are neither this machine nor trusted by the settings. */
function refuseUnprotected({ protocol, hostname, host }: URL, trustedHosts: readonly string[]): void {
  const isOwn = hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
  if (
    protocol === "https:" ||
    (protocol === "http:" && (isOwn || trustedHosts.includes(hostname) || trustedHosts.includes(host)))
  )
    return;
  throw new InferyardError(
    "DOWNLOAD_FAILED",
    `${protocol}//${host} is not protected by TLS, and a library from it is not installed`,
    {
      remedy: "use its https address, or name the host in PIP_TRUSTED_HOST",
    },
  );
}

async function getFetch({ settings, environment }: Pick<WheelSearch, "settings" | "environment">): Promise<FetchFunction> {
  const { proxy, certificates } = settings;
  const withProxy =
    proxy === undefined
      ? environment
      : { ...environment, HTTPS_PROXY: proxy, HTTP_PROXY: proxy, https_proxy: proxy, http_proxy: proxy };
  return await proxiedFetch(
    withProxy,
    certificates === undefined ? undefined : [...rootCertificates, await certificatesIn(certificates)],
  );
}

async function certificatesIn(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new InferyardError(
      "CONFIG_INVALID",
      `the certificates in ${path}, which pip's settings name, cannot be read: ${getMessage(error)}`,
      {
        remedy: "check PIP_CERT and the setting cert of pip.conf",
        cause: error,
      },
    );
  }
}

function missing(name: string, sources: readonly Source[]): InferyardError {
  if (sources.length === 0)
    return new InferyardError(
      "CONFIG_INVALID",
      "pip's settings name no index (no-index) and no folder with wheels (find-links)",
      {
        remedy: `name an index or a file: ${quoteOption("from")}`,
      },
    );
  const where = sources.map(({ location }) =>
    getFolder(location) === undefined ? withoutCredentials(location).url.href : location,
  );
  return new InferyardError("DOWNLOAD_FAILED", `there are no wheels of the package ${name} in ${where.join(", ")}`, {
    remedy: `check PIP_INDEX_URL and pip.conf, or name an index or a file: ${quoteOption("from")}`,
    data: { package: name },
  });
}
