import type { Command } from "commander";
import { addAbortListener } from "../../../concurrency/abort-listeners.ts";
import { addServerFlags, readServerFlags } from "../../server-flags.ts";
import { addBulkLoadFlags, effectiveSettings } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

/** Defines the command `serve`. */
export function defineServe(command: Command, terminal: Terminal): void {
  command.option("--model <reference>", "default model of requests");
  addBulkLoadFlags(addServerFlags(command)).action(async (flags: Record<string, unknown>) => serve(terminal, flags));
}

async function serve(terminal: Terminal, flags: Readonly<Record<string, unknown>>): Promise<void> {
  terminal.runUntilSignal?.();
  const { createServer } = await import("../../../server/create-server.ts"); // no other command needs the server's libraries
  const { configured } = await effectiveSettings(terminal, flags);
  const { directory, environment, stderr: log } = terminal;
  const settings = { ...configured, server: { ...configured.server, ...readServerFlags(flags) } };
  const server = await createServer(settings, { directory, environment, log });
  writeLine(terminal.stdout, `listening on ${server.url}`);
  const ended = new Promise<void>((resolve) => {
    if (terminal.signal.aborted) resolve();
    addAbortListener(terminal.signal, () => resolve());
  });
  try {
    await Promise.race([ended, server.ready.then(() => ended)]);
  } finally {
    const cut = await server.close();
    if (cut > 0) writeLine(terminal.stderr, `inferyard: ${cut} requests were interrupted after drainTimeout`);
  }
}
