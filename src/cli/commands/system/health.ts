/** `health`: what the server of these settings says of itself, for health checks of containers that have no other program. */
import { readFile } from "node:fs/promises";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { resolve } from "node:path";
import { json } from "node:stream/consumers";
import type { Command } from "commander";
import { InferyardError, getMessage } from "../../../contract/errors.ts";
import type { ServerSection } from "../../../settings/generated-server-settings.ts";
import { serverDefaults, serverOptions } from "../../../settings/server-options.ts";
import { addOptionFlags, optionsFromFlags } from "../../option-flags.ts";
import { FailedResult } from "../../output/failed-result.ts";
import { effectiveSettings } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

/** Milliseconds that the server has to answer. */
const answerMs = 5000;

const flagOptions = { address: serverOptions.address, port: serverOptions.port };

/** The answer of `GET /health/ready` that the command reads. */
interface Readiness {
  readonly ready: boolean;
  readonly draining: boolean;
  readonly models: readonly { readonly model: string; readonly ready: boolean; readonly reason?: string }[];
}

/** Defines the command `health`. */
export function defineHealth(command: Command, terminal: Terminal): void {
  addOptionFlags(command, flagOptions).action(async (flags: Record<string, unknown>) => {
    const { values } = await effectiveSettings(terminal, flags);
    const given: ServerSection = {
      ...values.server,
      ...optionsFromFlags<Pick<ServerSection, "address" | "port">>(flagOptions, flags),
    };
    const url = new URL("/health/ready", getOwnUrl(given));
    const readiness = await askReadiness(url, given, terminal).catch((error: unknown) => {
      throw new InferyardError("SERVER_UNAVAILABLE", `${url.href}: ${getMessage(error)}`, {
        remedy: "is the server running, and does `inferyard serve` use this address and port?",
      });
    });
    const { ready, draining, models } = readiness;
    const unready = models.filter((model) => !model.ready);
    if (flags["json"] === true) writeLine(terminal.stdout, JSON.stringify(readiness));
    else if (ready) writeLine(terminal.stdout, `${url.origin} is ready`);
    if (ready) return;
    const reasons = unready.map(({ model, reason }) => (reason === undefined ? model : `${model}: ${reason}`));
    const why = draining ? "it is shutting down" : reasons.join("; ");
    throw new FailedResult("SERVER_UNAVAILABLE", `${url.origin} is not ready: ${why}`);
  });
}

/** URL of the server of these settings from this machine: an address that stands for all of the machine's is asked as loopback. */
function getOwnUrl({ address = serverDefaults.address, port = serverDefaults.port, tlsCert }: ServerSection): string {
  const host = { "0.0.0.0": "127.0.0.1", "::": "::1" }[address] ?? address;
  return `${tlsCert === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Asks a server. With HTTPS its certificate must be in the file of the settings; its names are not compared, since a certificate rarely has the loopback address. */
async function askReadiness(url: URL, { tlsCert }: ServerSection, { directory, signal }: Terminal): Promise<Readiness> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  const certificates = tlsCert === undefined ? undefined : await readFile(resolve(directory, tlsCert));
  return await new Promise((resolveAnswer, reject) => {
    const request =
      certificates === undefined
        ? requestHttp(url, { signal: deadline })
        : requestHttps(url, { signal: deadline, ca: certificates, checkServerIdentity: () => undefined });
    request.once("error", (error) =>
      reject(deadline.aborted && !signal.aborted ? new Error(`no answer in ${answerMs} ms`) : error),
    );
    request.once("response", (response) => {
      json(response)
        .then((body) => readBody(body, response.statusCode))
        .then(resolveAnswer, reject);
    });
    request.end();
  });
}

/** The body, of a server of ours: others do not have its fields. */
function readBody(body: unknown, status: number | undefined): Readiness {
  const { ready, draining, models } = body as Partial<Readiness>;
  if (typeof ready !== "boolean" || typeof draining !== "boolean" || !Array.isArray(models))
    throw new Error(`the answer with status ${status} is from another program than inferyard`);
  return { ready, draining, models };
}
