/**
 * What is used of a browser's own names, stated as our own interface: the compiler is told of Node.js only, and this keeps the difference
 * in one file. All of it is there in pages and in workers alike.
 */
import { InferyardError } from "../../errors.ts";

/** The members of a page's or worker's global scope that Inferyard uses. */
export interface BrowserScope {
  /** Left out outside secure contexts (https, localhost). https://developer.mozilla.org/docs/Web/API/CacheStorage */
  readonly caches?: { open(name: string): Promise<BrowserCache> };
  readonly navigator: {
    readonly userAgent: string;
    readonly hardwareConcurrency: number;
    /** GiB, rounded and capped to hide the machine. Chromium only. */
    readonly deviceMemory?: number;
  };
  /** Whether threads of WebAssembly may share memory. */
  readonly crossOriginIsolated: boolean;
  readonly location: { readonly href: string };
  readonly fetch: (
    url: string,
    options: { readonly method: "GET" | "HEAD"; readonly cache: "no-cache" | "no-store"; readonly signal: AbortSignal },
  ) => Promise<Response>;
}

/** The members of `Cache` that Inferyard uses (https://developer.mozilla.org/docs/Web/API/Cache). */
export interface BrowserCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  keys(): Promise<readonly Request[]>;
}

/** What a worker and the page that started it have in common. */
export interface MessageEnd {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

/** The members of `Worker` that Inferyard uses (https://developer.mozilla.org/docs/Web/API/Worker). */
export interface BrowserWorker {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "error", listener: (event: { readonly message?: string }) => void): void;
  terminate(): void;
}

/** The page or the worker this runs in. CONFIG_INVALID where it is neither. */
export function browserScope(): BrowserScope {
  if ("location" in globalThis) return globalThis as typeof globalThis & BrowserScope;
  throw new InferyardError("CONFIG_INVALID", "inferyard/browser was asked to work where there is no browser", {
    remedy: 'import "inferyard" in Node.js',
  });
}
