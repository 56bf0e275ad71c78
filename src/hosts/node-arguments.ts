/** Command-line arguments of Node.js that worker threads and child processes take over from the program. */

/** Arguments that make a program of text: `node -e text`, or of standard input. A child with them would run that program again. */
const programText = /^(-e|-p|-pe|--eval|--print|--input-type)(=|$)/;

/** Arguments of the debugger: its port is taken, and `--inspect-brk` stops a thread that no debugger continues. */
const debuggerArgument = /^--(inspect|debug-port)/;

/** Debugger arguments with the value in the next argument. */
const debuggerPort = /^--(inspect|debug)-port$/;

/** Arguments that decide how modules are loaded, with the value after "=" or in the next argument. */
const moduleArgument = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)(=|$)/;

/**
 * The option `execArgv` of a child process: all arguments except the debugger's. If the program was given as text, only the arguments about loading modules.
 * `given`: `process.execArgv`.
 */
export function childArguments(given: readonly string[]): string[] {
  if (given.some((argument) => programText.test(argument))) return moduleArguments(given);
  return given.filter((argument, index) => !debuggerArgument.test(argument) && !debuggerPort.test(given[index - 1] ?? ""));
}

/**
 * The option `execArgv` of a worker thread. Left out wherever possible: the worker then inherits all arguments. A list must not
 * contain flags of V8 or of the whole process (`--expose-gc`, `--max-old-space-size`, `--title`), which Node.js refuses with
 * ERR_WORKER_INVALID_EXEC_ARGV; where one is needed, it has only how modules are loaded. `given`: `process.execArgv`.
 */
export function workerArguments(given: readonly string[]): { readonly execArgv?: string[] } {
  const inheritsAll = !given.some((argument) => programText.test(argument) || debuggerArgument.test(argument));
  return inheritsAll ? {} : { execArgv: moduleArguments(given) };
}

/** The arguments among `given` that decide how modules are loaded, with their values. */
export function moduleArguments(given: readonly string[]): string[] {
  const takesNext = (argument = ""): boolean => moduleArgument.test(argument) && !argument.includes("=");
  return given.filter((argument, index) => moduleArgument.test(argument) || takesNext(given[index - 1]));
}
