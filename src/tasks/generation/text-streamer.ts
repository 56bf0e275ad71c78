/** Streamers in the shape of transformers.js: objects that are given tokens while they are generated. */
import type { Tokenizer } from "../../tokenizers/index.ts";
import { TokenText } from "./text/token-text.ts";

/** Interface of the pipeline's option `streamer`, which Transformers.js calls BaseStreamer. */
export interface Streamer {
  /** Takes token ids, one list for each text: first the prompt's, then one at a time. */
  put(tokens: bigint[][]): void;
  /** Called when the text is finished. */
  end(): void;
}

/** Options of `TextStreamer`, with the names of transformers.js. */
export interface TextStreamerOptions {
  /** Whether the prompt is left out. Default: false. */
  readonly skip_prompt?: boolean;
  /** Whether special tokens are left out. Default: true. */
  readonly skip_special_tokens?: boolean;
  /** Takes the text as it becomes known. */
  readonly callback_function: (text: string) => void;
  /** Takes the token ids. Default: none. */
  readonly token_callback_function?: (tokens: bigint[]) => void;
}

/** Gives the text of one generation as it becomes known. `tokenizer`: the property of that name of a pipeline. */
export class TextStreamer implements Streamer {
  readonly #options: TextStreamerOptions;
  readonly #tokenizer: Pick<Tokenizer, "decode" | "idToToken">;
  #text: TokenText;
  #isPrompt = true;

  constructor(tokenizer: Pick<Tokenizer, "decode" | "idToToken">, options: TextStreamerOptions) {
    this.#tokenizer = tokenizer;
    this.#options = options;
    this.#text = this.#newText();
  }

  put(tokens: bigint[][]): void {
    const isPrompt = this.#isPrompt;
    this.#isPrompt = false;
    if (isPrompt && this.#options.skip_prompt === true) return;
    const ids = tokens[0] ?? [];
    this.#options.token_callback_function?.(ids);
    this.#show(ids.map((id) => this.#text.push(Number(id))).join(""));
  }

  end(): void {
    this.#show(this.#text.end());
    this.#text = this.#newText();
    this.#isPrompt = true;
  }

  #newText(): TokenText {
    return new TokenText(this.#tokenizer, this.#options.skip_special_tokens ?? true);
  }

  #show(text: string): void {
    if (text === "") return;
    this.#options.callback_function(text);
  }
}
