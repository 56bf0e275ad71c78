import { type Command, InvalidArgumentError, Option } from "commander";
import { addLoadFlags, openSession } from "../session.ts";
import { openStore } from "../model-store.ts";
import { type Terminal, writeLine } from "../terminal.ts";

interface ServeFlags {
  readonly address?: string;
  readonly port?: number;
  readonly model?: string;
}

export function addServe(program: Command, terminal: Terminal): void {
  const command = program
    .command("serve")
    .description("every task over HTTP")
    .option("--address <address>", "where to listen (default: 127.0.0.1)")
    .addOption(new Option("--port <number>", "port to listen on; 0 takes a free one (default: 8080)").argParser(portNumber))
    .option("--model <reference>", "the model of requests that name none");
  addLoadFlags(command).action(async (flags: ServeFlags) => {
    // Fetched here: no other command needs the server's libraries.
    const [{ createHandler }, { listen }] = await Promise.all([
      import("../../server/handler.ts"),
      import("../../server/node.ts"),
    ]);
    const session = await openSession(terminal, { host: "process", ...flags }, flags.model, { shareBatches: true });
    const store = openStore(terminal);
    const storedNames = async (): Promise<string[]> => (await store.list()).map(({ name }) => name);
    const handler = createHandler(session.runtime, { defaultModel: session.model, storedNames });
    try {
      const { address, port } = flags;
      const listening = await listen(handler, {
        ...(address === undefined ? {} : { address }),
        ...(port === undefined ? {} : { port }),
      });
      writeLine(terminal.stdout, `listening on ${listening.url}`);
      await new Promise<void>((resolve) => terminal.signal.addEventListener("abort", () => resolve(), { once: true }));
      await listening.close();
    } finally {
      await session.runtime.dispose();
    }
  });
}

function portNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError("It must be from 0 to 65535.");
  return value;
}
