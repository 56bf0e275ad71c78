/** A model given where a command takes texts: `embed ./folder "a text"`, as other programs take it. */
import { readdir, stat } from "node:fs/promises";
import { isAbsolute, sep } from "node:path";
import type { Command } from "commander";
import { type Terminal, writeLine } from "../terminal.ts";

/** Longest argument that is looked up as a path: texts are longer. */
const maxPathLength = 1024;

/**
 * Takes the first argument of a command as its model if it is the path of one, `--model` is not given, and texts follow it. Where none follow, or the
 * command has a model, it is a text, and a note says so. Does nothing for commands that take no texts or no model.
 */
export async function takeModelArgument(command: Command, terminal: Terminal): Promise<void> {
  const { registeredArguments: slots, args } = command;
  const [first, ...rest] = args;
  const takesTexts = slots.at(-1)?.variadic === true && command.options.some(({ long }) => long === "--model");
  if (first === undefined || !takesTexts || !(await isModel(first))) return;
  const required = slots.filter(({ required: isRequired }) => isRequired).length;
  const isTaken = command.getOptionValue("model") === undefined && rest.length >= Math.max(1, required);
  if (isTaken) {
    command.setOptionValue("model", isAbsolute(first) || /^\.{1,2}[/\\]/.test(first) ? first : `.${sep}${first}`);
    command.processedArgs = slots.map(({ variadic }, index): unknown => (variadic ? rest.slice(index) : rest[index]));
  }
  if (command.opts()["quiet"] === true) return;
  writeLine(
    terminal.stderr,
    isTaken
      ? `inferyard: ${first} is taken as the model; --model says so without a note`
      : `inferyard: ${first} is a model, and is read as a text here; --model ${first} runs it`,
  );
}

/** Whether there is a file of weights, a package or the folder of a model at a path. */
async function isModel(path: string): Promise<boolean> {
  if (path === "" || path.length > maxPathLength || /[\r\n\0]/.test(path)) return false;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return false;
  // Imported on demand: texts are seldom paths.
  const { isModelFile, isModelFolder } = await import("../../models/manifest/model-path.ts");
  return found.isDirectory() ? isModelFolder(await readdir(path).catch(() => [])) : found.isFile() && isModelFile(path);
}
