/**
 * Lists the files of a package on an index of Python packages: the Simple Repository API in its JSON and HTML forms
 * (https://packaging.python.org/en/latest/specifications/simple-repository-api/).
 */
import { decodePercent } from "../../platform/percent-encoding.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, quoteOption } from "../../contract/errors.ts";

/** A file that an index lists. */
export interface IndexedFile {
  readonly name: string;
  /** Absolute URL, without its fragment. */
  readonly url: string;
  /** The strongest digest that the index states; undefined if it states none. */
  readonly digest: StatedDigest | undefined;
  /** Size in bytes, where the index states it. */
  readonly size: number | undefined;
  /** Whether its publisher has withdrawn it. */
  readonly isYanked: boolean;
}

/** A digest of a file's content. */
export interface StatedDigest {
  /** Name of the algorithm, as `node:crypto` has it. */
  readonly algorithm: string;
  /** Hexadecimal, in lower case. */
  readonly value: string;
}

/** Forms that are accepted, the preferred one first. */
export const acceptedForms = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/** Algorithms from the strongest to the weakest, with the hexadecimal digits of a digest. */
const algorithms: readonly [string, number][] = [
  ["sha512", 128],
  ["sha384", 96],
  ["sha256", 64],
  ["sha224", 56],
  ["sha1", 40],
  ["md5", 32],
];

/** Most files of one page. */
const maxFiles = 100_000;

/** Parses a page. `pageUrl`: its URL after redirects. `contentType`: content type of the response. Throws DOWNLOAD_FAILED for a page of another form. */
export function parseIndexPage(text: string, pageUrl: string, contentType: string): readonly IndexedFile[] {
  const files = /\+json|application\/json/.test(contentType) ? parseJson(text, pageUrl) : parseHtml(text, pageUrl);
  return files.slice(0, maxFiles);
}

function parseJson(text: string, pageUrl: string): readonly IndexedFile[] {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch (error) {
    throw wrongForm(pageUrl, "it is no JSON", error);
  }
  const { files } = (page ?? {}) as { readonly files?: unknown };
  if (!Array.isArray(files)) throw wrongForm(pageUrl, "it has no list of files");
  return files.flatMap((file: unknown) => {
    const { filename, url, hashes, size, yanked } = (file ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof filename !== "string" || typeof url !== "string" || !URL.canParse(url, pageUrl)) return [];
    const stated = typeof hashes === "object" && hashes !== null ? Object.entries(hashes) : [];
    return [
      {
        name: filename,
        url: withoutFragment(new URL(url, pageUrl)),
        digest: strongest(new Map(stated)),
        size: typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : undefined,
        isYanked: yanked !== undefined && yanked !== false,
      },
    ];
  });
}

/** Anchors of a page in HTML; of other pages, such as a listing of a folder, the links to wheels. */
function parseHtml(text: string, pageUrl: string): readonly IndexedFile[] {
  const base = attribute(/<base\b([^>]*)>/i.exec(text)?.[1] ?? "", "href");
  const from = base !== undefined && URL.canParse(base, pageUrl) ? new URL(base, pageUrl).href : pageUrl;
  return [...text.matchAll(/<a\b([^>]*)>/gi)].flatMap(([, attributes = ""]) => {
    const href = attribute(attributes, "href");
    if (href === undefined || !URL.canParse(href, from)) return [];
    const url = new URL(href, from);
    const stated = new URLSearchParams(url.hash.slice(1));
    return [
      {
        name: decodePercent(url.pathname.slice(url.pathname.lastIndexOf("/") + 1)),
        url: withoutFragment(url),
        digest: strongest(stated),
        size: undefined,
        isYanked: attribute(attributes, "data-yanked") !== undefined,
      },
    ];
  });
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}(?:\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+)))?(?=\\s|/|$)`, "i").exec(attributes);
  if (found === null) return undefined;
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };
  return (found[1] ?? found[2] ?? found[3] ?? "").replaceAll(
    /&(amp|lt|gt|quot|#39|#x27);/g,
    (_entity, key: string) => entities[key] ?? "",
  );
}

function strongest(stated: { get(name: string): unknown }): StatedDigest | undefined {
  for (const [algorithm, digits] of algorithms) {
    const value = stated.get(algorithm);
    if (typeof value === "string" && value.length === digits && /^[0-9a-f]+$/i.test(value))
      return { algorithm, value: value.toLowerCase() };
  }
  return undefined;
}

function withoutFragment(url: URL): string {
  const plain = new URL(url);
  plain.hash = "";
  return plain.href;
}

function wrongForm(url: string, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("DOWNLOAD_FAILED", `${url} is no page of an index of Python packages: ${problem}`, {
    remedy: `check PIP_INDEX_URL and pip.conf, or name another index: ${quoteOption("from")}`,
    data: { url },
    ...omitUndefined({ cause }),
  });
}
