/** What the server takes and gives, from GET /openapi.json. Written by `npm run client`; a test holds the two together. */
export interface paths {
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts and times in the text form of Prometheus */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Metrics */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Loads, unloads, failovers, deaths, restarts and downloads as they happen (server-sent events) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events, until the client leaves or the server ends */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the server answers at all */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It does */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Live"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a probe input has run on the default model and on those that are preloaded, and the server is not ending */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Send requests */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ready"];
                    };
                };
                /** @description Send none */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ready"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What runs and waits, what is in memory and why */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Now */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Texts to vectors */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["EmbedRequest"];
                };
            };
            responses: {
                /** @description A vector for each text. With `Accept: application/octet-stream`: count and dimension as u64, then the rows as f32, little-endian */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EmbedResponse"];
                        "application/octet-stream": string;
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/classify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Labels of texts */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ClassifyRequest"];
                };
            };
            responses: {
                /** @description Labels of texts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ClassifyResponse"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/rerank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** How well texts answer a query */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["InferyardRerankRequest"];
                };
            };
            responses: {
                /** @description How well texts answer a query */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferyardRerankResponse"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/recognize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The names in texts */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RecognizeRequest"];
                };
            };
            responses: {
                /** @description The names in texts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RecognizeResponse"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chunk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A long text to parts */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChunkRequest"];
                };
            };
            responses: {
                /** @description A long text to parts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChunkResponse"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models by what they can do */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Every model that may be named */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Models"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Why a loaded model runs where it runs */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a model, slashes as they are or escaped */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The decision */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Decision"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/load": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Loads a model, for admins */
        post: {
            parameters: {
                query?: {
                    /** @description false: answer at once; ask again until it is 200 */
                    wait?: "true" | "false";
                };
                header?: never;
                path: {
                    /** @description Name of a model, slashes as they are or escaped */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Where it was loaded */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoadedModel"];
                    };
                };
                /** @description It is being loaded */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoadingModel"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/unload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Unloads a model as soon as nobody uses it, for admins */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a model, slashes as they are or escaped */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Whether it was there */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UnloadedModel"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where a model would run, and why; loads nothing */
        get: {
            parameters: {
                query?: {
                    /** @description Name of a model, a target behind it if wanted; left out, the default */
                    model?: string;
                    /** @description The target that is required */
                    target?: string;
                    /** @description The target that is tried first */
                    prefer?: string;
                    /** @description The target that is not to be used */
                    exclude?: string;
                    /** @description Weights, by name */
                    variant?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The decision */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Decision"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        /** Where a model would run, and why; loads nothing */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExplainRequest"];
                };
            };
            responses: {
                /** @description Where a model would run, and why; loads nothing */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Decision"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backends": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What each engine says of itself */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Every engine */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            backends: components["schemas"]["BackendReport"][];
                        };
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/rewrite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Texts written anew: not built yet */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Nothing is behind this route yet */
                501: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Texts that go on from a prompt: not built yet */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Nothing is behind this route yet */
                501: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The text of images: not built yet */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Nothing is behind this route yet */
                501: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/transcribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The text of speech: not built yet */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Nothing is behind this route yet */
                501: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rerank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Documents in order, as Cohere's version 1 and Jina's API */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RerankRequest"];
                };
            };
            responses: {
                /** @description Best first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RerankResponse"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/rerank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Documents in order, as Cohere's API */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RerankRequest"];
                };
            };
            responses: {
                /** @description Best first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RerankResponse"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CohereError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Names of models, as OpenAI's API */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Every model that may be named */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIModels"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One model, as OpenAI's API */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The model */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIModel"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Texts to vectors, as OpenAI's API */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OpenAIEmbeddingsRequest"];
                };
            };
            responses: {
                /** @description A vector for each text */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIEmbeddings"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers to a conversation: not built yet */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Nothing is behind this route yet */
                501: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Text that goes on from a prompt: not built yet */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Nothing is behind this route yet */
                501: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers, with tools: not built yet */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Nothing is behind this route yet */
                501: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenAIError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A vector for each text, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiEmbedRequest"];
                };
            };
            responses: {
                /** @description A vector for each text, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": number[][];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/embed_all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A vector for each token, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiEmbedAllRequest"];
                };
            };
            responses: {
                /** @description A vector for each token, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": number[][][];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/embed_sparse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Weights of vocabulary tokens, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiEmbedSparseRequest"];
                };
            };
            responses: {
                /** @description Weights of vocabulary tokens, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            index: number;
                            value: number;
                        }[][];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rerank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Texts in the order of how well they answer, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiRerankRequest"];
                };
            };
            responses: {
                /** @description Texts in the order of how well they answer, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            index: number;
                            score: number;
                            text?: string;
                        }[];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/predict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Labels of texts with scores, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiPredictRequest"];
                };
            };
            responses: {
                /** @description Labels of texts with scores, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            label: string;
                            score: number;
                        }[] | {
                            label: string;
                            score: number;
                        }[][];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/similarity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cosines of a text with others, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiSimilarityRequest"];
                };
            };
            responses: {
                /** @description Cosines of a text with others, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": number[];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tokens of texts, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiTokenizeRequest"];
                };
            };
            responses: {
                /** @description Tokens of texts, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiToken"][][];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/decode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Texts of tokens, as text-embeddings-inference */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TeiDecodeRequest"];
                };
            };
            responses: {
                /** @description Texts of tokens, as text-embeddings-inference */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": string[];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The model and its limits, as text-embeddings-inference */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The model */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiInfo"];
                    };
                };
                /** @description Nothing was given */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description There is no such model */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too much at once, or a text that is longer than the model reads */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The request is not right */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description The model cannot do this, or failed */
                424: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TeiError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What this server is */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its name, version and extensions */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ServerMetadata"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the server answers at all */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It does */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** As /health/ready */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Send requests */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Send none */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a model takes and gives; loads nothing */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its tensors */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ModelMetadata"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a model takes and gives; loads nothing */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model: string;
                    version: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its tensors */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ModelMetadata"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a model is loaded, and a probe has run on it */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It is not, or the server ends */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/versions/{version}/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a model is loaded, and a probe has run on it */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model: string;
                    version: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It is not, or the server ends */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/infer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs a model on texts (a BYTES tensor text) or on its raw tensors */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "inference-header-content-length"?: string;
                };
                path: {
                    model: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["InferRequest"];
                    "application/octet-stream": string;
                };
            };
            responses: {
                /** @description Outputs; with bytes behind the JSON where they are wanted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferResponse"];
                        "application/octet-stream": string;
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/versions/{version}/infer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs a model on texts (a BYTES tensor text) or on its raw tensors */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "inference-header-content-length"?: string;
                };
                path: {
                    model: string;
                    version: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["InferRequest"];
                    "application/octet-stream": string;
                };
            };
            responses: {
                /** @description Outputs; with bytes behind the JSON where they are wanted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferResponse"];
                        "application/octet-stream": string;
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/repository/index": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The models of this server */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @description Only those that are loaded */
                        ready?: boolean;
                    };
                };
            };
            responses: {
                /** @description Name, version and state of each */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RepositoryIndex"];
                    };
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/repository/models/{model}/load": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Loads a model (administrators) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        parameters?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            responses: {
                /** @description It is loaded, and a probe has run on it */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/repository/models/{model}/unload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Unloads a model as soon as nobody uses it (administrators) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        parameters?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            responses: {
                /** @description It is not in memory */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description The request is not right */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description A key is needed */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description This key may not do that */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description There is no such model or version */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too much at once */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The body has a form that is not read */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description The model cannot do this */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Too many requests wait already */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It failed */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description Not now: loading, no memory, no engine, or ending */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
                /** @description It took too long */
                504: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InferenceError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Error: {
            error: {
                /**
                 * @description One of docs/reference/errors.md
                 * @example MODEL_NOT_FOUND
                 */
                code: string;
                message: string;
                /** @description What to do next */
                remedy?: string;
                retryable: boolean;
                retry_after_ms?: number;
                loading?: components["schemas"]["LoadProgress"];
                request_id: string;
            };
        };
        /** @description Of a model that is still loading */
        LoadProgress: {
            /** @enum {string} */
            stage: "preparing" | "downloading" | "loading";
            /** @description Since the load began */
            elapsed_ms: number;
            /** @description Fetched so far */
            bytes?: number;
            total_bytes?: number;
            /** @description From 0 to 1, of this stage, where it is known */
            progress?: number;
            /** @description Until this stage is over, where earlier loads tell */
            estimate_ms?: number;
        };
        Live: {
            /** @enum {string} */
            status: "live";
        };
        Ready: {
            ready: boolean;
            /** @description The server is ending and takes no new requests */
            draining: boolean;
            models: {
                model: string;
                ready: boolean;
                /** @description Why not */
                reason?: string;
                /** @description One of docs/reference/errors.md */
                code?: string;
            }[];
        };
        Status: {
            /** @description Requests that run */
            running: number;
            /** @description Requests that wait */
            waiting: number;
            draining: boolean;
            recent: {
                seconds: number;
                requests: number;
                failed: number;
                /** @description Milliseconds */
                p50: number | null;
                p99: number | null;
            };
            memory: {
                /** @description Bytes, by where; null: none */
                limits: {
                    [key: string]: number;
                } | null;
                models: {
                    reference: string;
                    target: string;
                    state: string;
                    bytes: {
                        [key: string]: number;
                    };
                }[];
            };
            /** @description Why each model in memory is where it is */
            decisions: unknown[];
            /** @description Models that may be asked for */
            names: string[];
        };
        EmbedResponse: {
            model: string;
            dimensions: number;
            embeddings: number[][];
            /** @description Tokens the model saw of each text */
            tokens: number[];
        };
        EmbedRequest: {
            /**
             * @description Name of a model; left out, the server's default
             * @example builtin
             */
            model?: string;
            /**
             * @description A text, or a list of texts or of parts with a text
             * @example hello
             */
            input: string | string[] | {
                /** @constant */
                type: "text";
                text: string;
            }[];
            /** @description Name of a prompt of the model, put before every text */
            prompt?: string;
            /** @description Only the first dimensions */
            dimensions?: number;
            /** @description What to do with texts longer than the model reads; true: cut, false: error. Default: cut */
            truncate?: ("cut" | "error" | "windows") | boolean;
        };
        ClassifyResponse: {
            model: string;
            /** @description For each text its labels, best first */
            classifications: {
                label: string;
                score: number;
            }[][];
        };
        ClassifyRequest: {
            /** @description Name of a model; left out, the server's default */
            model?: string;
            texts: string[];
            /** @description Labels of your own, for a natural-language-inference model. Default: the model's own labels */
            labels?: string[];
            /** @description With `labels`. Default: This example is {}. */
            hypothesis_template?: string;
            /** @description With `labels`: each is judged by itself. Default: false */
            multi_label?: boolean;
            /** @description Only so many labels of each text. Default: all */
            top_k?: number;
            /**
             * @description What to do with longer texts. Default: cut
             * @enum {string}
             */
            truncate?: "cut" | "error";
        };
        InferyardRerankResponse: {
            model: string;
            /** @description One for each text, in their order */
            scores: number[];
            /** @description How they came about: sigmoid, softmax or none of logits, cosine, maxsim */
            scoring: string;
        };
        InferyardRerankRequest: {
            /** @description Name of a model; left out, the server's default */
            model?: string;
            query: string;
            /** @description The texts */
            prompts: string[];
            /** @description The model's own numbers, with no activation. Default: false */
            raw?: boolean;
            /**
             * @description What to do with longer texts. Default: cut
             * @enum {string}
             */
            truncate?: "cut" | "error";
        };
        RecognizeResponse: {
            model: string;
            /** @description For each text, from left to right */
            entities: {
                text: string;
                label: string;
                start: number;
                end: number;
                score: number;
            }[][];
        };
        RecognizeRequest: {
            /** @description Name of a model; left out, the server's default */
            model?: string;
            texts: string[];
            /** @description What to look for, for models made for that (GLiNER) */
            labels?: string[];
            /** @description With `labels`: the least score. Default: 0.5 */
            threshold?: number;
            /**
             * @description What `start` and `end` count. Default: utf16
             * @enum {string}
             */
            offsets?: "utf16" | "codepoints" | "bytes";
        };
        ChunkResponse: {
            model: string;
            chunks: {
                id: number;
                text: string;
                start_char: number;
                end_char: number;
                tokens: number;
                /** @description With the strategy late: its vector */
                embedding?: number[];
            }[];
            truncated: boolean;
        };
        ChunkRequest: {
            /** @description The text */
            input?: string;
            /** @description The same, as it was called before */
            text?: string;
            config?: {
                /** @description Whose tokens are counted; it is loaded for strategies that run a model alone. "fixed": builtin. Default: the server's default model */
                model?: string;
                /**
                 * @description Default: fixed
                 * @enum {string}
                 */
                strategy?: "fixed" | "markdown" | "code" | "semantic" | "late" | "token-classification";
                /** @description Most tokens in one chunk. Default: 500 */
                target_tokens?: number;
                /** @description Tokens that the next chunk repeats. Default: 0 */
                overlap_tokens?: number;
                /** @description The rest is left out, and `truncated` says so. Default: no limit */
                max_chunks?: number;
                /** @description With semantic: sentences part below this cosine */
                threshold?: number;
                /**
                 * @description What `start_char` and `end_char` count. Default: utf16
                 * @enum {string}
                 */
                offsets?: "utf16" | "codepoints" | "bytes";
            };
        };
        Models: {
            models: {
                name: string;
                /** @description Hugging Face's names, best first */
                tasks: string[];
                /**
                 * @description What it can be asked for
                 * @example [
                 *       "embed",
                 *       "rerank"
                 *     ]
                 */
                capabilities: string[];
                formats: string[];
                /** @description Longest text in tokens; null where there is no limit */
                max_tokens: number | null;
                /** @description Code of the error, where the model cannot be read */
                problem?: string;
            }[];
            embedders: string[];
            rerankers: string[];
            classifiers: string[];
            recognizers: string[];
            extractors: string[];
            chunkers: string[];
        };
        Decision: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            at: string;
            model: {
                reference: string;
                format: string;
                variant?: string;
                /** @description sha256:… of the variant's main file. */
                digest?: string;
            };
            constraints: {
                /** @enum {string} */
                policy: "priority" | "manifest" | "fastest";
                preferred: string[];
                required: string[];
                excluded: string[];
            };
            /** @description In the order of preference. */
            candidates: {
                /** @description backend:device[:index] */
                target: string;
                /** @enum {string} */
                verdict: "selected" | "would-run" | "refused" | "failed" | "not-tried";
                /**
                 * @description The step at which the candidate's fate was settled.
                 * @enum {string}
                 */
                stage: "constraints" | "manifest" | "package" | "probe" | "device" | "capability" | "requirement" | "circuit" | "load" | "verify";
                reason: string;
                /** @description A command or a setting that would change the verdict. */
                remedy?: string;
                /** @description Under the policy "fastest": how fast it was measured to be, or why no measurement counts. */
                note?: string;
                /** @description Time spent loading and verifying. */
                milliseconds?: number;
            }[];
            selected: {
                target: string;
                device: string;
                library: {
                    name: string;
                    version: string;
                };
                host: string;
                /** @description What the engine itself said. */
                evidence: string[];
            } | null;
        };
        LoadedModel: {
            model: string;
            target: string;
            decision: string;
            milliseconds: number;
        };
        LoadingModel: {
            model: string;
            loading?: components["schemas"]["LoadProgress"];
        };
        UnloadedModel: {
            model: string;
            /** @description Whether it was in memory */
            unloaded: boolean;
        };
        ExplainRequest: {
            /** @description Name of a model, a target behind it if wanted; left out, the default */
            model?: string;
            /**
             * @description The target that is required
             * @example onnx:cpu
             */
            target?: string;
            /** @description The target that is tried first */
            prefer?: string;
            /** @description The target that is not to be used */
            exclude?: string;
            /** @description Weights, by name */
            variant?: string;
        };
        BackendReport: {
            backend: string;
            availability: {
                /** @constant */
                present: false;
                reason: string;
                remedy?: string;
            } | {
                /** @constant */
                present: true;
                library: {
                    name: string;
                    version: string;
                };
                /** @description In the engine's order of preference */
                devices: {
                    device: {
                        type: string;
                        index: number;
                    };
                    available: boolean;
                    /** @description Why not, or what was found */
                    reason: string;
                    remedy?: string;
                    /** @description How long a tiny graph took, where one was run */
                    milliseconds?: number;
                }[];
            };
        };
        RerankResponse: {
            id: string;
            model: string;
            /** @enum {string} */
            object: "list";
            results: {
                /** @description Place of the document in the request */
                index: number;
                relevance_score: number;
                document?: {
                    text: string;
                } & {
                    [key: string]: unknown;
                };
            }[];
            meta: {
                api_version: {
                    version: string;
                };
                tokens: {
                    input_tokens: number;
                    output_tokens: number;
                };
            };
            /** @description Tokens the model read: queries, documents, special tokens */
            usage: {
                total_tokens: number;
                prompt_tokens: number;
            };
        };
        CohereError: {
            id: string;
            message: string;
            detail: string;
            /** @example MODEL_NOT_FOUND */
            code: string;
            retryable: boolean;
            retry_after_ms?: number;
            loading?: components["schemas"]["LoadProgress"];
        };
        RerankRequest: {
            /**
             * @description Name of a model; left out, the server's default
             * @example builtin
             */
            model?: string | null;
            /** @example a pet */
            query: string;
            /**
             * @description Texts, or objects with `text` or the fields of `rank_fields`
             * @example [
             *       "a car",
             *       "a cat"
             *     ]
             */
            documents: (string | {
                [key: string]: unknown;
            })[];
            /** @description Only so many results. Default: all */
            top_n?: number | null;
            /** @description Whether results carry their documents. Default: on /v1/rerank true, as Jina's; on /v2/rerank false */
            return_documents?: boolean | null;
            /** @description Fields of objects that are read. Default: text */
            rank_fields?: string[] | null;
            /** @description Documents are cut to so many tokens first */
            max_tokens_per_doc?: number | null;
            /** @description Accepted, and changes nothing: see x-inferyard-priority */
            priority?: number | null;
        };
        OpenAIModels: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["OpenAIModel"][];
        };
        OpenAIModel: {
            /** @example builtin */
            id: string;
            /** @enum {string} */
            object: "model";
            /** @description When it was fetched, in seconds since 1970; 0 where that is not known */
            created: number;
            owned_by: string;
        };
        OpenAIError: {
            error: {
                message: string;
                /** @example invalid_request_error */
                type: string;
                /** @description The field that is not right, where there is one */
                param: string | null;
                /** @example model_not_found */
                code: string;
                retryable: boolean;
                retry_after_ms?: number;
                loading?: components["schemas"]["LoadProgress"];
            };
        };
        OpenAIEmbeddings: {
            /** @enum {string} */
            object: "list";
            data: {
                /** @enum {string} */
                object: "embedding";
                index: number;
                embedding: number[] | string;
            }[];
            model: string;
            /** @description Tokens the model read, special tokens included */
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        OpenAIEmbeddingsRequest: {
            /**
             * @description Name of a model; left out, the server's default
             * @example builtin
             */
            model?: string | null;
            /**
             * @description A text, a list of texts, or the same as token ids of the model's own tokenizer
             * @example hello
             */
            input: string | string[] | number[] | number[][];
            /**
             * @description `base64`: little-endian 32-bit floats. Default: float
             * @enum {string|null}
             */
            encoding_format?: "float" | "base64" | null;
            /** @description Only the first dimensions */
            dimensions?: number | null;
            /** @description Accepted, and changes nothing */
            user?: string | null;
            /**
             * @description Not OpenAI's: what to do with texts longer than the model reads. Default: error, as OpenAI does
             * @enum {string}
             */
            truncate?: "cut" | "error" | "windows";
        };
        TeiError: {
            error: string;
            /** @enum {string} */
            error_type: "Unhealthy" | "Backend" | "Overloaded" | "Validation" | "Tokenizer" | "Empty";
            /** @example INPUT_TOO_LONG */
            code: string;
            retryable: boolean;
            retry_after_ms?: number;
            loading?: components["schemas"]["LoadProgress"];
        };
        TeiEmbedRequest: {
            inputs: components["schemas"]["TeiInput"];
            /** @description Name of a prompt of the model, put before every text */
            prompt_name?: string | null;
            /** @description Whether texts longer than the model reads are cut; else they are refused. Default: false */
            truncate?: boolean | null;
            /**
             * @description With `truncate`: left is refused. Default: right
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right" | "left" | "right";
            /** @description Scale vectors to unit length. Default: true */
            normalize?: boolean;
            /** @description Only the first dimensions */
            dimensions?: number | null;
        };
        /** @description A text, or a list of texts; token ids of the model's own tokenizer count as a text */
        TeiInput: string | number[] | (string | number[])[];
        TeiEmbedAllRequest: {
            inputs: components["schemas"]["TeiInput"];
            /** @description Name of a prompt of the model, put before every text */
            prompt_name?: string | null;
            /** @description Whether texts longer than the model reads are cut; else they are refused. Default: false */
            truncate?: boolean | null;
            /**
             * @description With `truncate`: left is refused. Default: right
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right" | "left" | "right";
        };
        TeiEmbedSparseRequest: {
            inputs: components["schemas"]["TeiInput"];
            /** @description Name of a prompt of the model, put before every text */
            prompt_name?: string | null;
            /** @description Whether texts longer than the model reads are cut; else they are refused. Default: false */
            truncate?: boolean | null;
            /**
             * @description With `truncate`: left is refused. Default: right
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right" | "left" | "right";
        };
        TeiRerankRequest: {
            query: string;
            texts: string[];
            /** @description The model's own numbers, with no activation. Default: false */
            raw_scores?: boolean;
            /** @description Whether ranks carry their texts. Default: false */
            return_text?: boolean;
            /** @description Whether texts longer than the model reads are cut; else they are refused. Default: false */
            truncate?: boolean | null;
            /**
             * @description With `truncate`: left is refused. Default: right
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right" | "left" | "right";
        };
        TeiPredictRequest: {
            /**
             * @description A text, a pair of texts, or a list of lists of one or two texts
             * @example I like it
             */
            inputs: string | [
                string,
                string
            ] | ([
                string
            ] | [
                string,
                string
            ])[];
            /** @description The model's own numbers, with no activation. Default: false */
            raw_scores?: boolean;
            /** @description Whether texts longer than the model reads are cut; else they are refused. Default: false */
            truncate?: boolean | null;
            /**
             * @description With `truncate`: left is refused. Default: right
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right" | "left" | "right";
        };
        TeiSimilarityRequest: {
            inputs: {
                source_sentence: string;
                sentences: string[];
            };
            parameters?: {
                /** @description Name of a prompt of the model, put before every text */
                prompt_name?: string | null;
                /** @description Whether texts longer than the model reads are cut; else they are refused. Default: false */
                truncate?: boolean | null;
                /**
                 * @description With `truncate`: left is refused. Default: right
                 * @enum {string}
                 */
                truncation_direction?: "Left" | "Right" | "left" | "right";
            } | null;
        };
        TeiToken: {
            id: number;
            text: string;
            special: boolean;
            /** @description In code points of the prompt and the text; special tokens have none */
            start?: number;
            stop?: number;
        };
        TeiTokenizeRequest: {
            /** @example a cat */
            inputs: string | string[];
            /** @description Whether special tokens are put around texts. Default: true */
            add_special_tokens?: boolean;
            /** @description Name of a prompt of the model, put before every text */
            prompt_name?: string | null;
        };
        TeiDecodeRequest: {
            /**
             * @example [
             *       101,
             *       1037,
             *       4937,
             *       102
             *     ]
             */
            ids: number[] | number[][];
            /** @description Default: true */
            skip_special_tokens?: boolean;
        };
        TeiInfo: {
            model_id: string;
            served_model_name: string;
            /**
             * @description Of the weights that are loaded; else of the first the model has
             * @example float32
             */
            model_dtype: string;
            model_type: {
                embedding: {
                    pooling: string;
                };
            } | {
                classifier: {
                    id2label: {
                        [key: string]: string;
                    };
                    label2id: {
                        [key: string]: number;
                    };
                };
            } | {
                reranker: {
                    id2label: {
                        [key: string]: string;
                    };
                    label2id: {
                        [key: string]: number;
                    };
                };
            };
            max_concurrent_requests: number;
            /** @description Tokens; 2147483647 where the model has no limit */
            max_input_length: number;
            max_batch_tokens: number;
            max_client_batch_size: number;
            /** @description False: without `truncate` a text that is too long is refused */
            auto_truncate: boolean;
            tokenization_workers: number;
            /** @description Of Inferyard */
            version: string;
        };
        ServerMetadata: {
            name: string;
            version: string;
            extensions: string[];
        };
        InferenceError: {
            error: string;
            code: string;
            retryable: boolean;
            retry_after_ms?: number;
            loading?: components["schemas"]["LoadProgress"];
            request_id: string;
        };
        ModelMetadata: {
            name: string;
            versions: string[];
            platform: string;
            inputs: {
                name: string;
                /** @enum {string} */
                datatype: "BOOL" | "UINT8" | "UINT16" | "UINT32" | "UINT64" | "INT8" | "INT16" | "INT32" | "INT64" | "FP16" | "BF16" | "FP32" | "FP64" | "BYTES";
                shape: number[];
            }[];
            outputs: {
                name: string;
                /** @enum {string} */
                datatype: "BOOL" | "UINT8" | "UINT16" | "UINT32" | "UINT64" | "INT8" | "INT16" | "INT32" | "INT64" | "FP16" | "BF16" | "FP32" | "FP64" | "BYTES";
                shape: number[];
            }[];
            properties: {
                [key: string]: string;
            };
        };
        InferResponse: {
            model_name: string;
            model_version: string;
            id?: string;
            outputs: {
                name: string;
                /** @enum {string} */
                datatype: "BOOL" | "UINT8" | "UINT16" | "UINT32" | "UINT64" | "INT8" | "INT16" | "INT32" | "INT64" | "FP16" | "BF16" | "FP32" | "FP64" | "BYTES";
                shape: number[];
                data?: (number | string | boolean)[];
                parameters?: {
                    [key: string]: unknown;
                };
            }[];
        };
        InferRequest: {
            id?: string;
            parameters?: {
                [key: string]: unknown;
            };
            inputs: {
                name: string;
                shape: number[];
                /** @enum {string} */
                datatype: "BOOL" | "UINT8" | "UINT16" | "UINT32" | "UINT64" | "INT8" | "INT16" | "INT32" | "INT64" | "FP16" | "BF16" | "FP32" | "FP64" | "BYTES";
                parameters?: {
                    [key: string]: unknown;
                };
                /** @description Elements, flat or nested; left out where they come as bytes */
                data?: unknown[];
            }[];
            outputs?: {
                name: string;
                parameters?: {
                    [key: string]: unknown;
                };
            }[];
        };
        RepositoryIndex: {
            name: string;
            version: string;
            /** @enum {string} */
            state: "READY" | "UNAVAILABLE";
            reason: string;
        }[];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
