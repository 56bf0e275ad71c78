/** Flags of commands that read texts or pictures. */
import { Option } from "commander";
import { invalidInput } from "../../contract/errors.ts";
import type { Options } from "../../runtime/options/option.ts";

/** The flag for pictures of commands that read texts as well. */
export function imageOption(): Option {
  return new Option("--image <file>", "a picture instead of texts; may be given several times").argParser(
    (file, before?: string[]) => [...(before ?? []), file],
  );
}

/** Throws INPUT_INVALID for a flag of one kind of input that was given with the other. */
export function refuseFlagsOf(flags: object, names: readonly string[], kept: Options, where: string): void {
  const name = names.find((one) => !Object.hasOwn(kept, one) && Object.hasOwn(flags, one));
  if (name === undefined) return;
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw invalidInput(`${flag} has no effect ${where}`, `leave ${flag} out`);
}
