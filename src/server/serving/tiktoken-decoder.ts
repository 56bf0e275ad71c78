/** Reads token ids of OpenAI's tokenizers back to text, by the optional package js-tiktoken. */
import { InferyardError } from "../../contract/errors.ts";

/** An encoding of tiktoken without its suffix `_base`. */
export type TiktokenEncoding = "cl100k" | "o200k";

/** The used part of js-tiktoken's class `Tiktoken`. */
interface Encoding {
  /** Bytes that are no UTF-8 become U+FFFD, and unknown ids nothing. */
  decode(ids: readonly number[]): string;
}

/** Imports a module of js-tiktoken by its name. */
export type ImportTiktoken = (name: string) => Promise<unknown>;

/** Decodes one encoding. The package is imported once, when it is first needed. */
export class TiktokenDecoder {
  readonly name: TiktokenEncoding;
  readonly #importModule: ImportTiktoken;
  #encoding: Promise<Encoding> | undefined;

  constructor(name: TiktokenEncoding, importModule: ImportTiktoken = (module) => import(module)) {
    this.name = name;
    this.#importModule = importModule;
  }

  /** Imports the vocabulary (0.5 s of processor time, 90 MB). Throws CONFIG_INVALID if js-tiktoken is not installed. */
  async load(): Promise<void> {
    await this.#load();
  }

  /** The text of the ids; undefined if the encoding lacks one of them. Throws as `load` does. */
  async decode(ids: readonly number[]): Promise<string | undefined> {
    const encoding = await this.#load();
    return ids.some((id) => encoding.decode([id]) === "") ? undefined : encoding.decode(ids);
  }

  #load(): Promise<Encoding> {
    this.#encoding ??= this.#importEncoding().catch((error: unknown) => {
      this.#encoding = undefined;
      throw error;
    });
    return this.#encoding;
  }

  async #importEncoding(): Promise<Encoding> {
    try {
      const { Tiktoken } = (await this.#importModule("js-tiktoken/lite")) as { Tiktoken: new (ranks: unknown) => Encoding };
      const ranks = (await this.#importModule(`js-tiktoken/ranks/${this.name}_base`)) as { default: unknown };
      return new Tiktoken(ranks.default);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
      throw new InferyardError(
        "CONFIG_INVALID",
        `server.tokenIds is ${this.name}, and the package js-tiktoken is not installed`,
        {
          remedy: "npm install js-tiktoken, or leave server.tokenIds out",
          cause: error,
        },
      );
    }
  }
}
