/** What the model sees of a file: its first and last bytes, as numbers. */
import type { MagikaConfig } from "./config.ts";

/** What Python's bytes.strip() takes away: tab, line feed, vertical tab, form feed, carriage return, space. */
const blank = (byte: number | undefined): boolean => byte !== undefined && (byte === 32 || (byte >= 9 && byte <= 13));

/**
 * `begin` numbers from the start and `end` from the end, white space around them left out, each byte as its value and positions without a
 * byte as the padding token. undefined where so few bytes are left that the model has nothing to go by.
 */
export function featuresOf(file: Uint8Array, config: MagikaConfig): Int32Array | undefined {
  const { beg_size: begin, end_size: end, block_size: block, padding_token: padding, min_file_size_for_dl: least } = config;
  let first = 0;
  const head = file.subarray(0, block);
  while (blank(head[first])) first += 1;
  const start = head.subarray(first, first + begin);
  if (start.length < least) return undefined;

  const tail = file.subarray(Math.max(0, file.length - block));
  let last = tail.length;
  while (blank(tail[last - 1])) last -= 1;
  const finish = tail.subarray(Math.max(0, last - end), last);

  const features = new Int32Array(begin + end).fill(padding);
  features.set(start, 0);
  features.set(finish, begin + end - finish.length);
  return features;
}
