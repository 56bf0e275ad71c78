/**
 * Types of the browser globals that Inferyard uses. The project compiles with the types of Node.js only, so they are declared here. All of
 * them exist in pages and in workers.
 */
import { InferyardError } from "../../contract/errors.ts";

/** The members of a page's or worker's global scope that Inferyard uses. */
export interface BrowserScope {
  /** The browser's caches; absent outside secure contexts (https, localhost). https://developer.mozilla.org/docs/Web/API/CacheStorage */
  readonly caches?: { open(name: string): Promise<BrowserCache> };
  readonly navigator: {
    readonly userAgent: string;
    readonly hardwareConcurrency: number;
    /** Memory of the machine in GiB, rounded and capped against fingerprinting. Chromium only. */
    readonly deviceMemory?: number;
  };
  /** Whether SharedArrayBuffer, and so WebAssembly threads, are available. */
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

/** One end of a message channel: a worker's global scope, or the worker as seen by its page. */
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

/** The global scope of the current page or worker. Throws CONFIG_INVALID outside of a browser. */
export function browserScope(): BrowserScope {
  if ("location" in globalThis) return globalThis as typeof globalThis & BrowserScope;
  throw new InferyardError("CONFIG_INVALID", "inferyard/browser was asked to work where there is no browser", {
    remedy: 'import "inferyard" in Node.js',
  });
}
