/** What the end of a process's stderr says about why it died. */

/** The lines of a text that are messages: trimmed, without empty lines and stack traces. */
export function messageLines(stderr: string): readonly string[] {
  return stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !isStackFrame(line));
}

/** The last line that names an error; otherwise the last line. Undefined without lines. */
export function likelyCause(lines: readonly string[]): string | undefined {
  return lines.findLast((line) => /error|terminate|what\(\)|abort|fatal|assert|fail/i.test(line)) ?? lines.at(-1);
}

/** Frames of JavaScript, of Node.js and of C, such as `libggml-base.so(ggml_abort+0x152)[0x7f2f800f7f42]`. */
function isStackFrame(line: string): boolean {
  return /^(at |\d+: |-----|\^|Node\.js v)|\[0x[\da-f]+\]$/.test(line);
}
