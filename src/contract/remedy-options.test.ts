import { expect, it } from "vitest";
import { quoteOption, spellOptions } from "./errors.ts";

const flags = (name: string, value: unknown): string | undefined =>
  name === "unknown" ? undefined : `--${name}${value === undefined ? "" : ` ${String(value)}`}`;

it.each([
  [`shorten it, or allow truncation: ${quoteOption("truncate", "cut")}`, "shorten it, or allow truncation: --truncate cut"],
  [`name another ${quoteOption("variant")}`, "name another --variant"],
  [quoteOption("prefer", ["onnx:cuda", "wasm"]), "--prefer onnx:cuda,wasm"],
  [quoteOption("replace", true), "--replace true"],
  [`${quoteOption("unknown")} and \`inferyard doctor\``, "`unknown` and `inferyard doctor`"],
])("spells the options of %j", (text, spelled) => expect(spellOptions(text, flags)).toBe(spelled));
