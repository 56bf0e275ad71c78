/** The flags of `serve`, one for each setting of the section `server` that fits on a command line. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type ServerSection, logLevels, longTextModes, serverDefaults, tokenIdSources } from "../../settings/server-section.ts";
import { parseList, positiveInteger, zeroOrMore } from "../session.ts";

/** Settings of the section that have a flag. */
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
  "tokenIds",
  "longTexts",
  "strictFields",
  "resultCacheBytes",
  "maxLoads",
  "maxLoadsPerClient",
  "loadsPerMinute",
  "requestTimeout",
  "textTimeout",
  "templateTimeout",
  "constraintTimeout",
  "constraintTimePerMinute",
  "constraintCacheBytes",
  "maxConstraintStates",
  "maxConstraintBytes",
  "maxConstraintSteps",
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

/** Adds the flags of `inferyard serve`, one for each server setting that has a flag. Returns the same command. */
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
    longTexts,
    textTimeout,
    templateTimeout,
    constraintTimeout,
    constraintTimePerMinute,
    maxConstraintStates,
    maxConstraintSteps,
    logLevel,
  } = serverDefaults;
  const whole = (flags: string, words: string): Option => new Option(flags, words).argParser(positiveInteger);
  const some = (flags: string, words: string): Option => new Option(flags, words).argParser(parseList);
  return command
    .option("--address <address>", `where to listen (default: ${address})`)
    .addOption(new Option("--port <number>", `port to listen on; 0 takes a free one (default: ${port})`).argParser(portNumber))
    .option("--allow-anonymous", "listen without keys on an address that other machines can reach")
    .option("--keys-file <file>", "keys clients must present one of, as a YAML or JSON list")
    .addOption(some("--cors <origins>", "origins of web pages that may use the server"))
    .addOption(some("--allowed-hosts <names>", "values of the header Host that the server accepts"))
    .option("--trust-proxy", "take the client's address from x-forwarded-for")
    .addOption(some("--preload <models>", "models to load at the start"))
    .addOption(
      whole("--max-concurrent-requests <number>", `maximum requests that run at once (default: ${maxConcurrentRequests})`),
    )
    .addOption(new Option("--max-queue <number>", `maximum requests that wait (default: ${maxQueue})`).argParser(zeroOrMore))
    .addOption(whole("--requests-per-minute <number>", "maximum requests per minute of one client"))
    .addOption(whole("--max-body-bytes <number>", "maximum size of a request body (default: 32 MiB)"))
    .addOption(whole("--max-json-bytes <number>", "maximum size of a JSON body (default: 4 MiB)"))
    .addOption(whole("--max-json-depth <number>", "maximum nesting depth of a JSON body"))
    .addOption(whole("--max-json-values <number>", "maximum number of values of a JSON body"))
    .addOption(whole("--max-in-flight-body-bytes <number>", "memory for the bodies of all requests in flight"))
    .addOption(whole("--max-texts <number>", `maximum texts of one request (default: ${maxTexts})`))
    .addOption(whole("--max-text-characters <number>", `maximum characters of one text (default: ${maxTextCharacters})`))
    .addOption(
      new Option("--token-ids <source>", "whose token ids OpenAI's clients send in place of texts").choices(tokenIdSources),
    )
    .addOption(
      new Option("--long-texts <what>", `what TEI's routes do with texts that are too long (default: ${longTexts})`).choices(
        longTextModes,
      ),
    )
    .option("--strict-fields", "refuse fields that a route does not know in place of naming them in x-inferyard-ignored")
    .addOption(
      new Option(
        "--result-cache-bytes <number>",
        "memory for results that are returned to equal requests (default: 0, disabled)",
      ).argParser(zeroOrMore),
    )
    .addOption(whole("--max-loads <number>", `maximum models that load at once (default: ${maxLoads})`))
    .addOption(whole("--max-loads-per-client <number>", `maximum of these for one client (default: ${maxLoadsPerClient})`))
    .addOption(whole("--loads-per-minute <number>", `maximum loads per minute of one reader (default: ${loadsPerMinute})`))
    .option("--request-timeout <time>", `maximum time from request to response (default: ${requestTimeout})`)
    .option("--text-timeout <time>", `maximum time to tokenize one text (default: ${textTimeout})`)
    .option("--template-timeout <time>", `maximum time to render a chat template (default: ${templateTimeout})`)
    .option("--constraint-timeout <time>", `maximum time to compile one constraint (default: ${constraintTimeout})`)
    .option(
      "--constraint-time-per-minute <time>",
      `maximum time for the constraints of one client in a minute (default: ${constraintTimePerMinute})`,
    )
    .addOption(whole("--constraint-cache-bytes <number>", "memory for the compiled constraints of one model (default: 32 MiB)"))
    .addOption(whole("--max-constraint-states <number>", `maximum states of one constraint (default: ${maxConstraintStates})`))
    .addOption(whole("--max-constraint-bytes <number>", "maximum memory of one constraint (default: 64 MiB)"))
    .addOption(whole("--max-constraint-steps <number>", `maximum work of one constraint (default: ${maxConstraintSteps})`))
    .option("--loading-wait <time>", "maximum time a request waits for a model to load; 0: does not wait")
    .option("--headers-timeout <time>", "maximum time for a client to send the head of a request")
    .option("--body-timeout <time>", "maximum time for a client to send a whole request")
    .option("--stall-timeout <time>", `maximum time in which a client takes nothing of its response (default: ${stallTimeout})`)
    .addOption(whole("--max-response-bytes <number>", "memory for responses being computed (default: 1/8 of the memory)"))
    .addOption(
      whole("--max-unread-bytes <number>", "bytes of responses that clients have not taken (default: 1/8 of the memory)"),
    )
    .addOption(whole("--max-connections <number>", `maximum number of connections (default: ${maxConnections})`))
    .addOption(whole("--max-connections-per-client <number>", "maximum connections of one address (default: a quarter of all)"))
    .option("--drain-timeout <time>", `maximum time that running requests have at shutdown (default: ${drainTimeout})`)
    .option("--tls-cert <file>", "certificate chain (PEM)")
    .option("--tls-key <file>", "private key (PEM)")
    .addOption(new Option("--log-level <level>", `what is logged (default: ${logLevel})`).choices(logLevels));
}

/** The server section of the settings with the values that flags override. */
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
