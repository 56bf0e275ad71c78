/** Token ids, type ids, places and decoded text: the same for every form of goldens that has them. */
import { type Tokenizer, convertOffsets, type TruncationStrategy } from "inferyard";
import { z } from "zod";
import type { Checks } from "./checks.ts";
import { ids, shown } from "./encoded.ts";

export interface GoldenTokens {
  readonly text: string;
  readonly text_pair?: string | null | undefined;
  readonly input_ids: readonly number[];
  readonly token_type_ids?: readonly number[] | undefined;
  readonly tokens?: readonly string[] | undefined;
  readonly offsets_codepoints?: readonly (readonly number[])[] | undefined;
}

export interface CheckTokensOptions {
  readonly maxTokens?: number;
  /** Which text is cut first where a pair is too long. Default: the longer one. */
  readonly strategy?: TruncationStrategy;
}

export function checkTokens(
  checks: Checks,
  tokenizer: Tokenizer,
  items: readonly GoldenTokens[],
  { maxTokens, strategy }: CheckTokensOptions = {},
): void {
  for (const [index, item] of items.entries()) {
    const place = shown(index, item.text);
    const pair = item.text_pair ?? undefined;
    const encoding = tokenizer.encode(item.text, {
      ...(pair === undefined ? {} : { pair }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(strategy === undefined || pair === undefined ? {} : { strategy }),
    });
    checks.equal("token ids", place, encoding.ids, item.input_ids);
    if (item.token_type_ids !== undefined) checks.equal("type ids", place, encoding.typeIds, item.token_type_ids);
    if (item.tokens !== undefined) checks.equal("tokens", place, encoding.tokens, item.tokens);
    if (item.offsets_codepoints === undefined) continue;
    const own = [...convertOffsets(encoding.offsets, item.text, "codepoints")];
    checks.equal("offsets", place, own, item.offsets_codepoints.flat());
  }
}

export const probes: z.ZodOptional<z.ZodArray<z.ZodType<Probe>>> = z
  .array(z.object({ text: z.string(), input_ids: ids, decoded: z.string(), decoded_skip_special: z.string() }))
  .optional();

interface Probe {
  readonly text: string;
  readonly input_ids: readonly number[];
  readonly decoded: string;
  readonly decoded_skip_special: string;
}

export function checkProbes(checks: Checks, tokenizer: Tokenizer, given: readonly Probe[] = []): void {
  for (const [index, { text, input_ids: golden, decoded, decoded_skip_special: plain }] of given.entries()) {
    const place = `probe ${shown(index, text).slice("item ".length)}`;
    checks.equal("token ids", place, tokenizer.encode(text).ids, golden);
    checks.equal("decoded texts", place, tokenizer.decode(golden, { skipSpecialTokens: false }), decoded);
    checks.equal("decoded texts", place, tokenizer.decode(golden), plain);
  }
}
