/** The flags of `serve`: one for each setting of the section `server` that fits on a command line. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type ServerSection, logLevels, serverDefaults } from "../../settings/server-section.ts";
import { list, positiveInteger, zeroOrMore } from "../session.ts";

export type ServerFlags = Omit<ServerSection, "keys" | "models">;

const names: readonly (keyof ServerFlags)[] = [
  "address",
  "port",
  "allowAnonymous",
  "keysFile",
  "cors",
  "allowedHosts",
  "trustProxy",
  "preload",
  "maxConcurrentRequests",
  "maxQueue",
  "requestsPerMinute",
  "maxBodyBytes",
  "maxJsonBytes",
  "maxJsonDepth",
  "maxJsonValues",
  "maxInFlightBodyBytes",
  "maxTexts",
  "maxTextCharacters",
  "resultCacheBytes",
  "maxLoads",
  "maxLoadsPerClient",
  "loadsPerMinute",
  "requestTimeout",
  "textTimeout",
  "loadingWait",
  "headersTimeout",
  "bodyTimeout",
  "stallTimeout",
  "maxResponseBytes",
  "maxUnreadBytes",
  "maxConnections",
  "maxConnectionsPerClient",
  "drainTimeout",
  "tlsCert",
  "tlsKey",
  "logLevel",
];

export function addServerFlags(command: Command): Command {
  const {
    address,
    port,
    maxConcurrentRequests,
    maxQueue,
    maxTexts,
    requestTimeout,
    drainTimeout,
    stallTimeout,
    maxConnections,
    maxLoads,
    maxLoadsPerClient,
    loadsPerMinute,
    maxTextCharacters,
    textTimeout,
    logLevel,
  } = serverDefaults;
  const whole = (flags: string, words: string): Option => new Option(flags, words).argParser(positiveInteger);
  const some = (flags: string, words: string): Option => new Option(flags, words).argParser(list);
  return command
    .option("--address <address>", `where to listen (default: ${address})`)
    .addOption(new Option("--port <number>", `port to listen on; 0 takes a free one (default: ${port})`).argParser(portNumber))
    .option("--allow-anonymous", "listen without keys where others can reach it")
    .option("--keys-file <file>", "keys clients must present one of, as a YAML or JSON list")
    .addOption(some("--cors <origins>", "origins of web pages that may use it"))
    .addOption(some("--allowed-hosts <names>", "names in the header Host under which it answers"))
    .option("--trust-proxy", "the last address of x-forwarded-for is the client's")
    .addOption(some("--preload <models>", "models to load at the start"))
    .addOption(whole("--max-concurrent-requests <number>", `requests that run at once (default: ${maxConcurrentRequests})`))
    .addOption(new Option("--max-queue <number>", `requests that wait at most (default: ${maxQueue})`).argParser(zeroOrMore))
    .addOption(whole("--requests-per-minute <number>", "requests of one client in a minute"))
    .addOption(whole("--max-body-bytes <number>", "largest body of a request (default: 32 MiB)"))
    .addOption(whole("--max-json-bytes <number>", "largest JSON body of a request (default: 4 MiB)"))
    .addOption(whole("--max-json-depth <number>", "deepest nesting of a JSON body"))
    .addOption(whole("--max-json-values <number>", "most values of one JSON body"))
    .addOption(whole("--max-in-flight-body-bytes <number>", "memory for the bodies of all requests that are being processed"))
    .addOption(whole("--max-texts <number>", `most texts of one request (default: ${maxTexts})`))
    .addOption(whole("--max-text-characters <number>", `most characters of one text (default: ${maxTextCharacters})`))
    .addOption(
      new Option(
        "--result-cache-bytes <number>",
        "memory for answers that are kept for who asks the same (default: 0, none)",
      ).argParser(zeroOrMore),
    )
    .addOption(whole("--max-loads <number>", `models that are loaded at once (default: ${maxLoads})`))
    .addOption(whole("--max-loads-per-client <number>", `of them for one client (default: ${maxLoadsPerClient})`))
    .addOption(whole("--loads-per-minute <number>", `models that one reader may load in a minute (default: ${loadsPerMinute})`))
    .option("--request-timeout <time>", `longest time to an answer (default: ${requestTimeout})`)
    .option("--text-timeout <time>", `longest time a thread reads one text (default: ${textTimeout})`)
    .option("--loading-wait <time>", "longest time a request waits for a model that is loading; 0 waits for none")
    .option("--headers-timeout <time>", "longest time for a client to send the head of a request")
    .option("--body-timeout <time>", "longest time for a client to send a whole request")
    .option("--stall-timeout <time>", `longest time in which a client takes nothing of its answer (default: ${stallTimeout})`)
    .addOption(whole("--max-response-bytes <number>", "memory for answers that are being made (default: 1/8 of the memory)"))
    .addOption(whole("--max-unread-bytes <number>", "bytes of answers that clients have not taken (default: 1/8 of the memory)"))
    .addOption(whole("--max-connections <number>", `connections in all (default: ${maxConnections})`))
    .addOption(whole("--max-connections-per-client <number>", "connections of one address (default: a quarter of all)"))
    .option("--drain-timeout <time>", `longest time running requests are waited for at the end (default: ${drainTimeout})`)
    .option("--tls-cert <file>", "certificate chain (PEM)")
    .option("--tls-key <file>", "private key (PEM)")
    .addOption(new Option("--log-level <level>", `what is logged (default: ${logLevel})`).choices(logLevels));
}

/** The section with what the flags say in its place. */
export function withFlags(section: ServerSection, flags: ServerFlags): ServerSection {
  const given = names.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]]);
  return { ...section, ...(Object.fromEntries(given) as ServerFlags) };
}

function portNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError("It must be from 0 to 65535.");
  return value;
}
