// MiniLM's tokenizer straight from the library, so that texts are cut to length by a hand that is none of the contenders'.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { miniLm } from "./shared-data.mjs";

export function miniLmTokenizer() {
  const [model, config] = ["tokenizer.json", "tokenizer_config.json"].map((name) =>
    JSON.parse(readFileSync(join(miniLm, name), "utf8")),
  );
  return new Tokenizer(model, config);
}
