/** A shared library that was opened, and its functions. */
import { isAbsolute } from "node:path";
import { InferyardError, getMessage, invalidInput } from "../../contract/errors.ts";
import type { Koffi, KoffiLibrary } from "./koffi.ts";
import { callNative, callNativeAsync, marshalSignature } from "./marshalling.ts";
import type { AsyncNativeFunction, NativeFunction, Signature } from "./native-type.ts";

/** A shared library in this process. Functions bound from it throw DISPOSED once it is closed. */
export class NativeLibrary {
  /** Absolute path. */
  readonly path: string;
  readonly #koffi: Koffi;
  #library: KoffiLibrary | undefined;

  private constructor(koffi: Koffi, path: string, library: KoffiLibrary) {
    this.#koffi = koffi;
    this.#library = library;
    this.path = path;
  }

  /**
   * Opens a shared library with all its symbols bound (RTLD_NOW). Its constructors run in this process, and may end it. Throws INPUT_INVALID
   * for a relative path, which the loader would look for elsewhere, and LOAD_FAILED with the loader's own words.
   */
  static open(koffi: Koffi, path: string): NativeLibrary {
    if (!isAbsolute(path)) {
      throw invalidInput(`${path} is not an absolute path`, "give the absolute path");
    }
    try {
      return new NativeLibrary(koffi, path, koffi.load(path));
    } catch (error) {
      const said = getMessage(error).replace(/^Failed to load shared library: /, "");
      throw new InferyardError("LOAD_FAILED", `${path} could not be loaded: ${said}`, {
        cause: error,
        data: { path, loader: said },
        remedy: `inferyard analyze-library ${path} says what it needs`,
      });
    }
  }

  /** Whether the library, or one that it needs, exports a symbol. */
  has(name: string): boolean {
    return this.getAddress(name) !== undefined;
  }

  /** The address of a symbol; undefined if there is none. */
  getAddress(name: string): bigint | undefined {
    try {
      return this.#open().symbol(name) as bigint;
    } catch (error) {
      if (error instanceof InferyardError) throw error;
      return undefined;
    }
  }

  /** Binds a function that is called on this thread. Throws LIBRARY_INCOMPATIBLE if the library has none of that name. */
  bind<const Of extends Signature>(name: string, signature: Of): NativeFunction<Of> {
    const { native, types } = this.#find(name, signature);
    return ((...inputs: unknown[]) => {
      this.#open();
      return callNative(native, types, inputs);
    }) as NativeFunction<Of>;
  }

  /** Binds a function that is called on a thread of koffi's pool. Otherwise as `bind`. */
  bindAsync<const Of extends Signature>(name: string, signature: Of): AsyncNativeFunction<Of> {
    const { native, types } = this.#find(name, signature);
    return (async (...inputs: unknown[]) => {
      this.#open();
      return callNativeAsync(native, types, inputs);
    }) as AsyncNativeFunction<Of>;
  }

  /** Gives the library back to the loader, which unloads it when nothing else uses it. No function of it may be running. */
  close(): void {
    const library = this.#library;
    this.#library = undefined;
    library?.unload();
  }

  #open(): KoffiLibrary {
    if (this.#library !== undefined) return this.#library;
    throw new InferyardError("DISPOSED", `${this.path} was closed`);
  }

  #find(name: string, signature: Signature) {
    const library = this.#open();
    if (!this.has(name)) {
      throw new InferyardError("LIBRARY_INCOMPATIBLE", `${this.path} has no function ${name}`, {
        data: { path: this.path, missing: [name] },
        remedy: `inferyard libraries verify ${this.path} says what else is missing`,
      });
    }
    const types = marshalSignature(this.#koffi, signature);
    const native = library.func(
      name,
      types.result.type,
      types.parameters.map(({ type }) => type),
    );
    return { native, types };
  }
}
