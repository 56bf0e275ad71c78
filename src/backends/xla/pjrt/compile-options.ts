/** The message CompileOptionsProto, with which a program is compiled (xla/pjrt/proto/compile_options.proto of OpenXLA). */

/**
 * `executable_build_options` (field 3): any device (device_ordinal -1), one replica and one partition. The plugin ends the process for a message
 * without replicas.
 */
const buildOptions = [0x1a, 0x0f, 0x08, ...Array.from({ length: 9 }, () => 0xff), 0x01, 0x20, 0x01, 0x28, 0x01];

/** Flags of XLA by name, for one program; a name that the plugin does not know is an error of the compilation. */
export type CompilerFlags = Readonly<Record<string, boolean | number | string>>;

/** The bytes of the message. */
export function compileOptionsBytes(flags: CompilerFlags = {}): Uint8Array {
  return Uint8Array.from([
    ...buildOptions,
    // env_option_overrides (field 7), a map whose values are OptionOverrideProto: string_field 1, bool_field 2, int_field 3.
    ...Object.entries(flags).flatMap(([name, value]) => field(7, [...field(1, utf8(name)), ...field(2, getOverride(value))])),
  ]);
}

function getOverride(value: boolean | number | string): readonly number[] {
  if (typeof value === "string") return field(1, utf8(value));
  return typeof value === "boolean" ? [0x10, Number(value)] : [0x18, ...varint(value)];
}

/** A length-delimited field of a message. */
function field(number: number, bytes: readonly number[]): readonly number[] {
  return [(number << 3) | 2, ...varint(bytes.length), ...bytes];
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))];
}

const utf8 = (text: string): readonly number[] => [...new TextEncoder().encode(text)];
