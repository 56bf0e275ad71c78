/** What the server takes and gives, from GET /openapi.json. Written by `npm run client`; a test holds the two together. */
export interface paths {
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics in the text format of Prometheus, or as OpenMetrics */
        get: operations["get_metrics"];
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
        /** Loads, unloads, failovers, crashes, restarts and downloads as they happen (server-sent events) */
        get: operations["get_api_events"];
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
        /** Liveness of the server */
        get: operations["get_health_live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the server takes requests */
        get: operations["get_health"];
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
        /** Readiness: a probe has run on the default model and the preloaded ones, and the server is not shutting down */
        get: operations["get_health_ready"];
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
        /** State of the server: requests, models in memory and their decisions (admins) */
        get: operations["get_api_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The embedding of one text, as Ollama's older route */
        post: operations["post_api_embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List models, as Ollama */
        get: operations["get_api_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the models in memory, as Ollama */
        get: operations["get_api_ps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** One model, as Ollama */
        post: operations["post_api_show"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Continue a conversation, as Ollama */
        post: operations["post_api_chat"];
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
        /** Generate what follows a prompt, as Ollama */
        post: operations["post_api_generate"];
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
        /** Embeddings of texts */
        post: operations["post_api_embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed/outputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Embeddings of texts in several forms */
        post: operations["post_api_embed_outputs"];
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
        /** Labels of texts, with scores */
        post: operations["post_api_classify"];
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
        /** Relevance of texts to a query */
        post: operations["post_api_rerank"];
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
        /** Named entities in texts */
        post: operations["post_api_recognize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/fill-mask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tokens for the mask tokens of texts */
        post: operations["post_api_fill_mask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers to a question, as pieces of contexts */
        post: operations["post_api_answer"];
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
        /** Split a long text into chunks */
        post: operations["post_api_chunk"];
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
        /** Summarize, translate or otherwise rewrite texts */
        post: operations["post_api_rewrite"];
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
        /** List models and what they support */
        get: operations["get_api_models"];
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
        /** The decision that placed a loaded model */
        get: operations["get_api_models_name_decision"];
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
        /** Load a model (admins) */
        post: operations["post_api_models_name_load"];
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
        /** Unload a model as soon as it is unused (admins) */
        post: operations["post_api_models_name_unload"];
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
        get: operations["get_api_explain"];
        put?: never;
        /** Where a model would run, and why; loads nothing */
        post: operations["post_api_explain"];
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
        /** Availability of every backend and device */
        get: operations["get_api_backends"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/library/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace the native library of the backend `library` while models serve (admins) */
        post: operations["post_api_library_reload"];
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
        /** Read the text in images: not built yet */
        post: operations["post_api_read"];
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
        /** Transcribe speech: not built yet */
        post: operations["post_api_transcribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Embeddings of texts, as Cohere's API v1 */
        post: operations["post_v1_embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Embeddings of texts, as Cohere's API v2 */
        post: operations["post_v2_embed"];
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
        /** Rank documents by relevance, as the APIs of Cohere (v1), Jina and Voyage */
        post: operations["post_v1_rerank"];
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
        /** Rank documents by relevance, as Cohere's API v2 */
        post: operations["post_v2_rerank"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reranking": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rank documents by relevance, as Mixedbread and llama.cpp */
        post: operations["post_v1_reranking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reranking": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rank documents by relevance, as llama.cpp */
        post: operations["post_reranking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ranking": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rank passages by relevance, as NVIDIA NIM */
        post: operations["post_v1_ranking"];
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
        /** Name, version and extensions of the server */
        get: operations["get_v2"];
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
        /** Liveness of the server */
        get: operations["get_v2_health_live"];
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
        /** Readiness of the server, as /health/ready */
        get: operations["get_v2_health_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts and times of the calls of every model, of all protocols */
        get: operations["get_v2_models_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts and times of the calls of a model, of all protocols */
        get: operations["get_v2_models_model_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/versions/{version}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts and times of the calls of a model, of all protocols */
        get: operations["get_v2_models_model_versions_version_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The configuration of a model, as Triton; loads nothing */
        get: operations["get_v2_models_model_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/models/{model}/versions/{version}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The configuration of a model, as Triton; loads nothing */
        get: operations["get_v2_models_model_versions_version_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model}:predict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a model on rows, as KServe's V1 protocol */
        post: operations["post_v1_models_model_predict"];
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
        /** Inputs and outputs of a model; loads nothing */
        get: operations["get_v2_models_model"];
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
        /** Inputs and outputs of a model; loads nothing */
        get: operations["get_v2_models_model_versions_version"];
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
        /** Whether a model is loaded */
        get: operations["get_v2_models_model_ready"];
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
        /** Whether a model is loaded */
        get: operations["get_v2_models_model_versions_version_ready"];
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
        /** Run a model on texts (a BYTES tensor `text`) or on its raw tensors */
        post: operations["post_v2_models_model_infer"];
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
        /** Run a model on texts (a BYTES tensor `text`) or on its raw tensors */
        post: operations["post_v2_models_model_versions_version_infer"];
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
        /** List the models of the server */
        post: operations["post_v2_repository_index"];
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
        /** Load a model (admins) */
        post: operations["post_v2_repository_models_model_load"];
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
        /** Unload a model as soon as it is unused (admins) */
        post: operations["post_v2_repository_models_model_unload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pipeline/{task}/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A task of Hugging Face's pipelines */
        post: operations["post_pipeline_task_model"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/models/{model}/pipeline/{task}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A task of Hugging Face's pipelines */
        post: operations["post_models_model_pipeline_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A task of Hugging Face's pipelines */
        post: operations["post_models_model"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List models, as Infinity */
        get: operations["get_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/classify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Labels of texts, as Infinity */
        post: operations["post_classify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a conversation, as Anthropic */
        post: operations["post_v1_messages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Count the tokens of a conversation, as Anthropic */
        post: operations["post_v1_messages_count_tokens"];
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
        /** List models, as OpenAI's API and as Cohere's */
        get: operations["get_v1_models"];
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
        /** One model, as OpenAI's API and as Cohere's */
        get: operations["get_v1_models_model"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List models, as Azure OpenAI and KServe */
        get: operations["get_openai_v1_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One model, as Azure OpenAI and KServe */
        get: operations["get_openai_v1_models_model"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List models, as Azure OpenAI's older API */
        get: operations["get_openai_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One model, as Azure OpenAI's older API */
        get: operations["get_openai_models_model"];
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
        /** Embeddings of texts, as OpenAI's API */
        post: operations["post_v1_embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Embeddings of texts, as Infinity and text-embeddings-inference */
        post: operations["post_embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Embeddings of texts, as Azure OpenAI and KServe */
        post: operations["post_openai_v1_embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/deployments/{deployment}/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Embeddings of texts with the model that the path names, as Azure OpenAI */
        post: operations["post_openai_deployments_deployment_embeddings"];
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
        /** Continue a conversation, as OpenAI */
        post: operations["post_v1_chat_completions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Continue a conversation, as Azure OpenAI and KServe */
        post: operations["post_openai_v1_chat_completions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/deployments/{deployment}/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Continue a conversation with the model that the path names, as Azure OpenAI */
        post: operations["post_openai_deployments_deployment_chat_completions"];
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
        /** Generate what follows prompts, as OpenAI */
        post: operations["post_v1_completions"];
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
        /** Answer a conversation with items, as OpenAI */
        post: operations["post_v1_responses"];
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
        /** Embeddings of texts, as text-embeddings-inference */
        post: operations["post_embed"];
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
        /** Embeddings of every token, as text-embeddings-inference */
        post: operations["post_embed_all"];
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
        /** Sparse embeddings (weights of vocabulary tokens), as text-embeddings-inference */
        post: operations["post_embed_sparse"];
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
        /** Rank texts by relevance, as text-embeddings-inference (texts) or as Cohere, Jina, vLLM and Infinity (documents) */
        post: operations["post_rerank"];
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
        post: operations["post_predict"];
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
        /** Cosine similarity of a text to others, as text-embeddings-inference */
        post: operations["post_similarity"];
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
        /** Tokenize texts, as text-embeddings-inference */
        post: operations["post_tokenize"];
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
        /** Decode token ids, as text-embeddings-inference */
        post: operations["post_decode"];
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
        get: operations["get_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What the default model does, as text-embeddings-inference and Hugging Face's pipelines */
        post: operations["post_root"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What the default model does, as text-embeddings-inference and Hugging Face's pipelines */
        post: operations["post_invocations"];
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
                /** @description Id of the decision, where one was made; also in x-inferyard-decision */
                decision?: string;
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
        Health: {
            /** @description Time of the server in seconds since 1970 */
            unix: number;
        };
        Ready: {
            ready: boolean;
            /** @description The server is shutting down and takes no new requests */
            draining: boolean;
            models: {
                model: string;
                ready: boolean;
                /** @description Why it is not ready */
                reason?: string;
                /** @description One of docs/reference/errors.md */
                code?: string;
            }[];
        };
        Status: {
            /** @description Requests that run now */
            running: number;
            /** @description Requests that wait now */
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
                /** @description Memory limits in bytes by device; null: no limits */
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
            /** @description Decisions of the models in memory */
            decisions: unknown[];
            /** @description Names of models that requests may use */
            names: string[];
        };
        OllamaEmbeddings: {
            embedding: number[];
        };
        OllamaError: {
            error: string;
            code: string;
            retryable: boolean;
            retry_after_ms?: number;
            loading?: components["schemas"]["LoadProgress"];
            request_id: string;
        };
        OllamaEmbeddingsRequest: {
            /**
             * @description Name of a model. Default: the server's default model
             * @example builtin
             */
            model?: string;
            /** @description The text. Default: none, which loads the model only */
            prompt?: string;
            /** @description Options of Ollama: num_ctx is obeyed; those of generation and placement are accepted and ignored */
            options?: {
                /** @description Maximum tokens of a text, as far as the model reads more */
                num_ctx?: number;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description How long the model stays in memory unused: seconds, or a duration such as "5m" or "1h30m"; 0 unloads it, a negative one keeps it. Obeyed for administrators, who may unload models; ignored for others
             * @example 5m
             */
            keep_alive?: number | string;
        };
        OllamaTags: {
            models: {
                name: string;
                model: string;
                /** @description Bytes of the weights */
                size: number;
                /** @description SHA-256 of the weights, where the model's files state it */
                digest?: string;
                details: {
                    parent_model: string;
                    /** @example onnx */
                    format: string;
                    /** @description `model_type` of the model's config.json, else its format */
                    family: string;
                    families: string[];
                    /**
                     * @description Precision of the weights, where the files say
                     * @example fp32
                     */
                    quantization_level?: string;
                };
                modified_at: string;
            }[];
        };
        OllamaProcesses: {
            models: {
                name: string;
                model: string;
                /** @description Bytes that it holds in memory and on devices */
                size: number;
                /** @description SHA-256 of the weights, where the model's files state it */
                digest?: string;
                details: {
                    parent_model: string;
                    /** @example onnx */
                    format: string;
                    /** @description `model_type` of the model's config.json, else its format */
                    family: string;
                    families: string[];
                    /**
                     * @description Precision of the weights, where the files say
                     * @example fp32
                     */
                    quantization_level?: string;
                };
                /** @description Bytes of it on devices other than the CPU */
                size_vram: number;
                context_length?: number;
                /** @description When its keep-alive ends, counted from now while it is in use; the year 9999: never */
                expires_at: string;
            }[];
        };
        OllamaShow: {
            modified_at: string;
            details: {
                parent_model: string;
                /** @example onnx */
                format: string;
                /** @description `model_type` of the model's config.json, else its format */
                family: string;
                families: string[];
                /**
                 * @description Precision of the weights, where the files say
                 * @example fp32
                 */
                quantization_level?: string;
            };
            /** @description general.architecture; context_length (maximum tokens of a text) and embedding_length, where the files say */
            model_info: {
                [key: string]: unknown;
            };
            /**
             * @description embedding, as Ollama; and what else it can do here
             * @example [
             *       "embedding",
             *       "rerank"
             *     ]
             */
            capabilities: string[];
            license?: string;
        };
        OllamaShowRequest: {
            /** @example builtin */
            model?: string;
            /** @description Older name of `model` */
            name?: string;
            /** @description Accepted and ignored: tokens and merges are not listed */
            verbose?: boolean;
        };
        OllamaChat: {
            model: string;
            created_at: string;
            done: boolean;
        } & {
            [key: string]: unknown;
        };
        OllamaChatRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            /** @description Whether the answer is sent as lines of JSON while it is generated. Default: true */
            stream?: boolean;
            /** @description "json", or a JSON Schema: what the text must be */
            format?: unknown;
            /** @description Whether the model thinks, where its chat template can turn that off */
            think?: boolean | string;
            /** @description Only false */
            logprobs?: boolean;
            /** @enum {boolean} */
            truncate?: false;
            /** @description Options of Ollama: num_ctx is obeyed; those of generation and placement are accepted and ignored */
            options?: {
                /** @description Maximum tokens of a text, as far as the model reads more */
                num_ctx?: number;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description How long the model stays in memory unused: seconds, or a duration such as "5m" or "1h30m"; 0 unloads it, a negative one keeps it. Obeyed for administrators, who may unload models; ignored for others
             * @example 5m
             */
            keep_alive?: number | string;
            /** @description Default: none, which loads the model only */
            messages?: {
                [key: string]: unknown;
            }[];
            tools?: {
                [key: string]: unknown;
            }[];
        };
        OllamaGenerate: {
            model: string;
            created_at: string;
            done: boolean;
        } & {
            [key: string]: unknown;
        };
        OllamaGenerateRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            /** @description Whether the answer is sent as lines of JSON while it is generated. Default: true */
            stream?: boolean;
            /** @description "json", or a JSON Schema: what the text must be */
            format?: unknown;
            /** @description Whether the model thinks, where its chat template can turn that off */
            think?: boolean | string;
            /** @description Only false */
            logprobs?: boolean;
            /** @enum {boolean} */
            truncate?: false;
            /** @description Options of Ollama: num_ctx is obeyed; those of generation and placement are accepted and ignored */
            options?: {
                /** @description Maximum tokens of a text, as far as the model reads more */
                num_ctx?: number;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description How long the model stays in memory unused: seconds, or a duration such as "5m" or "1h30m"; 0 unloads it, a negative one keeps it. Obeyed for administrators, who may unload models; ignored for others
             * @example 5m
             */
            keep_alive?: number | string;
            /** @description Default: none, which loads the model only */
            prompt?: string;
            system?: string;
            /** @description Whether the prompt is given to the model as it is, without its chat template */
            raw?: boolean;
            /** @description Not built yet */
            suffix?: string;
            /** @description Not built yet */
            template?: string;
            /** @description Not built yet */
            images?: string[];
            /** @description Refused: send the conversation to /api/chat */
            context?: number[];
        };
        EmbedResponse: {
            model: string;
            dimensions: number;
            embeddings: number[][];
            /** @description Number of tokens read of each text */
            tokens: number[];
            /** @description Time the request waited and ran, in nanoseconds */
            total_duration: number;
            /** @description The part in which it loaded the model, in nanoseconds; 0 if that was in memory */
            load_duration: number;
            /** @description Number of tokens read, of all texts together */
            prompt_eval_count: number;
        };
        EmbedRequest: {
            /**
             * @description Name of a model. Default: the server's default model
             * @example builtin
             */
            model?: string;
            /**
             * @description A text, or a list of texts or of content parts
             * @example hello
             */
            input: string | string[] | {
                /** @constant */
                type: "text";
                text: string;
            }[];
            /** @description Name of a prompt of the model that is prepended to every text */
            prompt?: string;
            /** @description Number of leading dimensions to keep */
            dimensions?: number;
            /** @description What to do with texts longer than the model reads; true: cut, false: error. Default: cut */
            truncate?: ("cut" | "error" | "windows") | boolean;
            /** @description Options of Ollama: num_ctx is obeyed; those of generation and placement are accepted and ignored */
            options?: {
                /** @description Maximum tokens of a text, as far as the model reads more */
                num_ctx?: number;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description How long the model stays in memory unused: seconds, or a duration such as "5m" or "1h30m"; 0 unloads it, a negative one keeps it. Obeyed for administrators, who may unload models; ignored for others
             * @example 5m
             */
            keep_alive?: number | string;
        };
        EmbedOutputsResponse: {
            model: string;
            /** @description Number of components of one vector; of a sparse one the size of the vocabulary */
            dimensions: {
                dense?: number;
                sparse?: number;
                multi_vector?: number;
            };
            /** @description A vector per text */
            dense?: number[][];
            /** @description Weights of vocabulary tokens of each text, the largest first */
            sparse?: {
                indices: number[];
                values: number[];
            }[];
            /** @description A vector per token of each text */
            multi_vector?: number[][][];
            /** @description Number of tokens read of each text */
            tokens: number[];
        };
        EmbedOutputsRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            /**
             * @description A text, or a list of texts
             * @example hello
             */
            input: string | string[];
            /**
             * @description Forms of the embeddings: dense, sparse, multi-vector
             * @example [
             *       "dense"
             *     ]
             */
            outputs: ("dense" | "sparse" | "multi-vector")[];
            /** @description Name of a prompt of the model that is prepended to every text */
            prompt?: string;
            /**
             * @description What to do with texts longer than the model reads. Default: cut
             * @enum {string}
             */
            truncate?: "cut" | "error";
        };
        ClassifyResponse: {
            model: string;
            /** @description Labels of each text, best first */
            classifications: {
                label: string;
                score: number;
            }[][];
        };
        ClassifyRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            texts: string[];
            /** @description Maximum number of labels per text. Default: all */
            top_k?: number;
            /** @description Candidate labels, for zero-shot classification with a natural-language-inference model. Default: the model's own labels */
            labels?: string[];
            /** @description With `labels`: hypothesis for a label, which replaces {}. Default: This example is {}. */
            hypothesis_template?: string;
            /** @description With `labels`: score each label independently. Default: false */
            multi_label?: boolean;
            /**
             * @description What to do with texts longer than the model reads. Default: cut
             * @enum {string}
             */
            truncate?: "cut" | "error";
        };
        InferyardRerankResponse: {
            model: string;
            /** @description Score of each text, in the order of the request */
            scores: number[];
            /** @description How scores are computed: sigmoid or softmax of logits, none (raw logits), cosine, maxsim, or meanmaxsim */
            scoring: string;
        } | {
            model: string;
            results: {
                /** @description Index of the document in the request */
                index: number;
                relevance_score: number;
                document?: {
                    text: string;
                };
            }[];
            /** @description How scores are computed: sigmoid or softmax of logits, none (raw logits), cosine, maxsim, or meanmaxsim */
            scoring: string;
        };
        InferyardRerankRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            query: string;
            /** @description Texts to score, in the response in this order */
            prompts?: string[];
            /** @description Instead of `prompts`: texts to rank, in the response best first */
            documents?: string[];
            /** @description With `documents`: maximum number of results. Default: all */
            top_n?: number;
            /** @description With `documents`: results contain them. Default: false */
            return_documents?: boolean;
            /** @description Return the model's raw output, without an activation function. Default: false */
            raw?: boolean;
            /**
             * @description What to do with texts longer than the model reads. Default: cut
             * @enum {string}
             */
            truncate?: "cut" | "error";
            /** @description Options of Ollama: num_ctx is obeyed; those of generation and placement are accepted and ignored */
            options?: {
                /** @description Maximum tokens of a text, as far as the model reads more */
                num_ctx?: number;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description How long the model stays in memory unused: seconds, or a duration such as "5m" or "1h30m"; 0 unloads it, a negative one keeps it. Obeyed for administrators, who may unload models; ignored for others
             * @example 5m
             */
            keep_alive?: number | string;
        };
        RecognizeResponse: {
            model: string;
            /** @description Entities of each text, in order */
            entities: {
                text: string;
                label: string;
                start: number;
                end: number;
                score: number;
            }[][];
        };
        RecognizeRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            texts: string[];
            /** @description Entity types to find, for models with open types (GLiNER) */
            labels?: string[];
            /** @description With `labels`: minimum score of an entity. Default: 0.5 */
            threshold?: number;
            /**
             * @description Unit of `start` and `end`. Default: utf16
             * @enum {string}
             */
            offsets?: "utf16" | "codepoints" | "bytes";
        };
        FillMaskResponse: {
            model: string;
            /** @description For each text and each of its masks, tokens, best first */
            fills: {
                /** @description The token as text */
                token: string;
                token_id: number;
                score: number;
                /** @description The text with the token in the place of the mask */
                text: string;
            }[][][];
        };
        FillMaskRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            /** @description Texts with one or more mask tokens of the model, such as [MASK] */
            texts: string[];
            /** @description Number of tokens for each mask, best first. Default: 5 */
            top_k?: number;
            /** @description Consider only these words; scores remain probabilities over the whole vocabulary */
            targets?: string[];
            /**
             * @description What to do with texts longer than the model reads. Default: cut
             * @enum {string}
             */
            truncate?: "cut" | "error";
        };
        AnswerResponse: {
            model: string;
            /** @description For each context its answers, best first; an empty text is no answer */
            answers: {
                text: string;
                start: number;
                end: number;
                score: number;
            }[][];
        };
        AnswerRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            /** @example Who purrs? */
            question: string;
            /**
             * @description Texts in which to look for the answer
             * @example [
             *       "A cat purrs."
             *     ]
             */
            contexts: string[];
            /** @description Number of answers in each context, best first. Default: 1 */
            top_k?: number;
            /** @description Maximum length of an answer in tokens. Default: 15 */
            max_answer_tokens?: number;
            /** @description Include no answer, an empty text, as a candidate. Default: false */
            no_answer?: boolean;
            /** @description Extend answers to whole words. Default: true */
            align_to_words?: boolean;
            /**
             * @description Unit of `start` and `end`. Default: utf16
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
                /** @description With the strategy late: the vector of the chunk */
                embedding?: number[];
            }[];
            truncated: boolean;
        };
        ChunkRequest: {
            /** @description The text */
            input?: string;
            /** @description Alternative name of `input` */
            text?: string;
            config?: {
                /** @description Model whose tokens are counted; only strategies that run a model load it. "fixed": builtin. Default: the server's default model */
                model?: string;
                /**
                 * @description Default: fixed
                 * @enum {string}
                 */
                strategy?: "fixed" | "markdown" | "code" | "semantic" | "late" | "token-classification";
                /** @description Maximum tokens per chunk. Default: 500 */
                target_tokens?: number;
                /** @description Tokens that consecutive chunks share. Default: 0 */
                overlap_tokens?: number;
                /** @description Maximum number of chunks; the rest of the text is dropped, and `truncated` is true. Default: no limit */
                max_chunks?: number;
                /**
                 * @description Unit of `start_char` and `end_char`. Default: utf16
                 * @enum {string}
                 */
                offsets?: "utf16" | "codepoints" | "bytes";
                /** @description With semantic: split between sentences whose cosine is below this */
                threshold?: number;
            };
        };
        RewriteResponse: {
            model: string;
            /** @description For each text what became of it: `n` texts */
            texts: string[][];
            finish_reasons: ("stop" | "length")[][];
            usage: {
                prompt_tokens: number;
                completion_tokens: number;
            };
        };
        RewriteRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            /** @description Texts to rewrite */
            texts: string[];
            /** @description What is done, by its name in config.json */
            task?: string;
            /** @description Text before each text. Default: that of the task */
            prefix?: string;
            /** @description Language of the texts, as the model's vocabulary names it */
            source_language?: string;
            /** @description Language to translate into, as the model's vocabulary names it */
            target_language?: string;
            /** @description Tokens to generate at most. Default: 256, or as the model's files say */
            max_new_tokens?: number;
            /** @description Tokens before which a text does not end. Default: 0 */
            min_new_tokens?: number;
            /** @description Whether tokens are drawn at random. Default: if a setting of sampling is given, or as the model's files say */
            do_sample?: boolean;
            /** @description Divides the logits; 0: the most probable token is chosen. Default: 1 */
            temperature?: number;
            /** @description Draw among this many most probable tokens; 0: all. Default: 0 */
            top_k?: number;
            /** @description Draw among the most probable tokens that reach this probability together. Default: 1 */
            top_p?: number;
            /** @description Draw among tokens with at least this share of the highest probability. Default: 0 */
            min_p?: number;
            /** @description Draw among the tokens nearest to the expected information that reach this probability. Default: 1 */
            typical_p?: number;
            /** @description Seed of the random numbers. Default: a random one */
            seed?: number;
            /** @description Above 1: tokens that occur, in the prompt too, become less probable. Default: 1 */
            repetition_penalty?: number;
            /** @description Subtracted from the logit of a token for each time it was generated. Default: 0 */
            frequency_penalty?: number;
            /** @description Subtracted from the logits of tokens that were generated. Default: 0 */
            presence_penalty?: number;
            /** @description No sequence of this many tokens occurs twice; 0: no limit. Default: 0 */
            no_repeat_ngram_size?: number;
            /** @description Texts that are not generated */
            bad_words?: string[];
            /** @description A text ends before the first of these strings */
            stop?: string[];
            /** @description Whether the model's own end tokens do not end a text. Default: false */
            ignore_end_tokens?: boolean;
            /** @description Texts for each prompt. Default: 1 */
            n?: number;
            /** @description Number of beams of beam search. Default: 1 */
            num_beams?: number;
            /** @description With beams: exponent of the length by which scores are divided. Default: 1 */
            length_penalty?: number;
            /** @description Give each token with its log probability, and this many most probable alternatives */
            logprobs?: number;
            /** @description Where the text repeats itself or its prompt, try this many of the tokens that followed before in one call; 0: none. Default: 0 */
            prompt_lookup?: number;
            /** @description Whether special tokens are left out of the text. Default: true */
            skip_special_tokens?: boolean;
        };
        Models: {
            models: {
                name: string;
                /** @description Task names of Hugging Face, the main task first */
                tasks: string[];
                /**
                 * @description Operations it supports
                 * @example [
                 *       "embed",
                 *       "rerank"
                 *     ]
                 */
                capabilities: string[];
                formats: string[];
                /** @description Maximum tokens of a text; null: no limit */
                max_tokens: number | null;
                /** @description Error code, where the model cannot be read */
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
                /** @description The variant of the files whose weights were packed to `variant` while loading. */
                packedFrom?: string;
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
                 * @description The step that gave the candidate its verdict.
                 * @enum {string}
                 */
                stage: "constraints" | "manifest" | "package" | "probe" | "device" | "capability" | "requirement" | "circuit" | "load" | "verify";
                reason: string;
                /** @description A command or a setting that would change the verdict. */
                remedy?: string;
                /** @description Under the policy "fastest": the measured speed, or why no measurement applies. */
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
                /** @description What the engine itself reported. */
                evidence: string[];
                /** @description Why the engine's evidence does not prove where it computed; absent if it does. */
                unproven?: string;
                /** @description What the load gave up so that the model fits into the memory; absent if nothing. */
                givenUp?: string;
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
            /** @description Whether the model was in memory */
            unloaded: boolean;
        };
        ExplainRequest: {
            /** @description Name of a model, optionally with a target (name@onnx:cpu). Default: the server's default model */
            model?: string;
            /**
             * @description The only target that may run the model
             * @example onnx:cpu
             */
            target?: string;
            /** @description Target to try first */
            prefer?: string;
            /** @description Target never to use */
            exclude?: string;
            /**
             * @description Use of accelerators
             * @enum {string}
             */
            gpu?: "auto" | "off" | "cuda" | "rocm" | "coreml" | "directml" | "webgpu" | "openvino" | "tpu";
            /** @description Variant of the model */
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
                /** @description In the backend's order of preference */
                devices: {
                    device: {
                        type: string;
                        index: number;
                    };
                    /**
                     * @description present: found, and nothing has run on it yet; available: a tiny graph ran on it
                     * @enum {string}
                     */
                    state: "absent" | "present" | "available";
                    /** @description Why the device is absent, or what was found or ran */
                    reason: string;
                    /** @description What is wrong with a device that is available nevertheless */
                    warning?: string;
                    remedy?: string;
                    /** @description Duration of a test run, where there was one */
                    milliseconds?: number;
                }[];
            };
        };
        ReloadReport: {
            backend: string;
            /** @description The library before; null: there was none */
            before: {
                name: string;
                version: string;
                path: string;
                sha256: string;
            } | null;
            after: {
                name: string;
                version: string;
                path: string;
                sha256: string;
            };
            /** @description What the new library computed on each device */
            validation: string[];
            /** @description The models that moved to the new library, and how its answers compare */
            models: {
                reference: string;
                target: string;
                decisions: {
                    before: string;
                    after: string;
                };
                comparison: {
                    prompts: number;
                    positions: number;
                    ties: number;
                    maxDifference: number;
                    tolerance: number;
                };
            }[];
            milliseconds: {
                validation: number;
                models: number;
                drain: number;
                total: number;
            };
        };
        ReloadLibraryRequest: {
            /**
             * @description Path of the new library on the machine of the server, for a key whose role is admin. Default: the file in use, which was built anew
             * @example /opt/llama.cpp/build/bin/libllama.so
             */
            path?: string;
            /** @description Largest difference of a logit from that of the old library, as a part of the range of the logits. Default: 0.02 */
            tolerance?: number;
        };
        CohereEmbeddings: {
            id: string;
            /** @enum {string} */
            response_type: "embeddings_floats" | "embeddings_by_type";
            embeddings: number[][] | {
                float?: number[][];
                int8?: number[][];
                uint8?: number[][];
                binary?: number[][];
                ubinary?: number[][];
                base64?: string[];
            };
            texts: string[];
            meta: {
                api_version: {
                    version: string;
                };
                /** @description Number of tokens read, special tokens included; nothing is billed */
                billed_units: {
                    input_tokens: number;
                };
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
        CohereEmbedRequest: {
            /**
             * @description Name of a model. Default: the server's default model
             * @example builtin
             */
            model?: string;
            /**
             * @description The texts; either these or `inputs`
             * @example [
             *       "a cat",
             *       "a dog"
             *     ]
             */
            texts?: string[];
            /** @description Texts as content, one text in each */
            inputs?: {
                content: ({
                    type: string;
                    text?: string;
                } & {
                    [key: string]: unknown;
                })[];
            }[];
            /** @description Not built yet: must be empty */
            images?: unknown[];
            /**
             * @description What the texts are for: selects the model's prompt of that use (query; document, passage or corpus; classification; clustering). Without effect on models without such prompts. image: not built yet
             * @example search_document
             * @enum {string}
             */
            input_type?: "search_document" | "search_query" | "classification" | "clustering" | "image";
            /**
             * @description Formats of the vectors. int8: 127 times the unit vector, rounded; uint8: the same plus 128; ubinary: one bit for each dimension, 1 for positive numbers, eight in a byte; binary: the same minus 128; base64: little-endian 32-bit floats. Default: float
             * @example [
             *       "float",
             *       "int8"
             *     ]
             */
            embedding_types?: ("float" | "int8" | "uint8" | "binary" | "ubinary" | "base64")[];
            /** @description Maximum tokens of a text. Default: what the model reads */
            max_tokens?: number;
            /** @description Number of leading dimensions to keep */
            output_dimension?: number;
            /**
             * @description Longer texts: END keeps their beginning, NONE refuses them; START is not built. Default: END
             * @enum {string}
             */
            truncate?: "NONE" | "START" | "END";
            /** @description Accepted and ignored: see x-inferyard-priority */
            priority?: number;
        };
        RerankResponse: {
            id: string;
            model: string;
            /** @enum {string} */
            object: "list";
            results: {
                /** @description Index of the document in the request */
                index: number;
                relevance_score: number;
                document?: {
                    text: string;
                } & {
                    [key: string]: unknown;
                };
            }[];
            /** @description The results once more, for requests of Voyage and Mixedbread */
            data?: {
                index: number;
                relevance_score?: number;
                score?: number;
                document?: string;
                input?: string | ({
                    text: string;
                } & {
                    [key: string]: unknown;
                });
                /** @enum {string} */
                object?: "rank_result";
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
            /** @description Number of tokens read: queries, documents and special tokens */
            usage: {
                total_tokens: number;
                prompt_tokens: number;
            };
            top_k?: number;
            return_input?: boolean;
        };
        RerankRequest: {
            /**
             * @description Name of a model. Default: the server's default model
             * @example builtin
             */
            model?: string;
            /** @example a pet */
            query: string;
            /**
             * @description Texts, or objects with `text` or the fields of `rank_fields`; either these or `input`
             * @example [
             *       "a car",
             *       "a cat"
             *     ]
             */
            documents?: (string | ({
                text?: string;
            } & {
                [key: string]: unknown;
            }))[];
            /** @description The documents, as Mixedbread names them */
            input?: (string | ({
                text?: string;
            } & {
                [key: string]: unknown;
            }))[];
            /** @description Maximum number of results. Default: all */
            top_n?: number;
            /** @description The same, as Voyage and Mixedbread name it */
            top_k?: number;
            /** @description Whether results contain their documents. Default: true on /v1/rerank, as with Jina; false elsewhere, and for requests of Voyage */
            return_documents?: boolean;
            /** @description The same, as Mixedbread names it. Default: false */
            return_input?: boolean;
            /** @description Fields of objects to read. Default: text */
            rank_fields?: string[];
            /** @description Maximum tokens of a document; longer ones are truncated */
            max_tokens_per_doc?: number;
            /** @description Voyage: whether longer texts are truncated; otherwise they are refused. Marks the request as one of Voyage's clients */
            truncation?: boolean;
            /** @description Infinity: return the model's raw output, without an activation function. Default: false */
            raw_scores?: boolean;
            /**
             * @description Mixedbread: not built
             * @enum {boolean}
             */
            rewrite_query?: false;
            /**
             * @description Jina: not built
             * @enum {boolean}
             */
            return_embeddings?: false;
            /** @description Accepted and ignored: see x-inferyard-priority */
            priority?: number;
        };
        RankingResponse: {
            /** @description Best first */
            rankings: {
                index: number;
                logit: number;
            }[];
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        RankingRequest: {
            /**
             * @description Name of a model. Default: the server's default model
             * @example builtin
             */
            model?: string;
            /**
             * @example {
             *       "text": "a pet"
             *     }
             */
            query: {
                text: string;
            };
            /**
             * @example [
             *       {
             *         "text": "a car"
             *       },
             *       {
             *         "text": "a cat"
             *       }
             *     ]
             */
            passages: {
                text: string;
            }[];
            /**
             * @description Longer texts: END keeps their beginning, NONE refuses them; START is not built. Default: NONE
             * @enum {string}
             */
            truncate?: "NONE" | "START" | "END";
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
        ServerLive: {
            /** @enum {boolean} */
            live: true;
        };
        ServerReady: {
            ready: boolean;
        };
        ModelStatistics: {
            model_stats: {
                name: string;
                version: string;
                /** @description End of the last run, in milliseconds since 1970; 0: none yet */
                last_inference: number;
                /** @description Calls with a result */
                inference_count: number;
                /** @description Those that computed it */
                execution_count: number;
                inference_stats: {
                    success: {
                        count: number;
                        ns: number;
                    };
                    fail: {
                        count: number;
                        ns: number;
                    };
                    /** @description Waiting time of the calls that computed their result */
                    queue: {
                        count: number;
                        ns: number;
                    };
                    /** @description Their running time: tokenizing, inference, and loading where that was needed */
                    compute_infer: {
                        count: number;
                        ns: number;
                    };
                };
            }[];
        };
        ModelConfig: {
            name: string;
            platform: string;
            /** @description The target it runs on, if it is in memory */
            backend?: string;
            /**
             * @description `dims` hold every dimension, the batch's too
             * @enum {number}
             */
            max_batch_size: 0;
            input: {
                name: string;
                /** @example TYPE_FP32 */
                data_type: string;
                dims: number[];
            }[];
            output: {
                name: string;
                /** @example TYPE_FP32 */
                data_type: string;
                dims: number[];
            }[];
        };
        PredictResponse: {
            /** @description One for each instance: a vector, a score, { label, score }; of a model with its own inputs the output, or an object of its outputs by name */
            predictions: unknown[];
        };
        PredictRequest: {
            /**
             * @description Texts, objects with a `text`, pairs [query, document], or objects with the values of the model's inputs
             * @example [
             *       "a cat",
             *       "a dog"
             *     ]
             */
            instances: unknown[];
            /** @description Must be empty */
            parameters?: {
                [key: string]: unknown;
            };
            /**
             * @description Models have this one signature
             * @enum {string}
             */
            signature_name?: "serving_default";
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
        ModelReady: {
            name: string;
            /** @enum {boolean} */
            ready: true;
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
        PipelineRequest: {
            inputs: string | string[];
            parameters?: {
                top_k?: number;
                /** @enum {string} */
                function_to_apply?: "sigmoid" | "softmax" | "none";
            };
            /** @description Accepted and ignored */
            options?: {
                wait_for_model?: boolean;
                use_cache?: boolean;
                use_gpu?: boolean;
                dont_load_model?: boolean;
            };
        } | {
            inputs: string | string[];
            parameters?: {
                /** @enum {string} */
                aggregation_strategy?: "none" | "simple" | "first" | "average" | "max";
                ignore_labels?: string[];
                stride?: number;
            };
            /** @description Accepted and ignored */
            options?: {
                wait_for_model?: boolean;
                use_cache?: boolean;
                use_gpu?: boolean;
                dont_load_model?: boolean;
            };
        } | {
            inputs: string | string[];
            parameters: {
                candidate_labels: string | string[];
                multi_label?: boolean;
                hypothesis_template?: string;
            };
            /** @description Accepted and ignored */
            options?: {
                wait_for_model?: boolean;
                use_cache?: boolean;
                use_gpu?: boolean;
                dont_load_model?: boolean;
            };
        } | {
            inputs: string | string[];
            parameters?: {
                top_k?: number;
                targets?: string[];
            };
            /** @description Accepted and ignored */
            options?: {
                wait_for_model?: boolean;
                use_cache?: boolean;
                use_gpu?: boolean;
                dont_load_model?: boolean;
            };
        } | {
            inputs: {
                question: string;
                context: string;
            };
            parameters?: {
                top_k?: number;
                max_answer_len?: number;
                doc_stride?: number;
                handle_impossible_answer?: boolean;
                align_to_words?: boolean;
            };
            /** @description Accepted and ignored */
            options?: {
                wait_for_model?: boolean;
                use_cache?: boolean;
                use_gpu?: boolean;
                dont_load_model?: boolean;
            };
        } | {
            inputs: {
                source_sentence: string;
                sentences: string[];
            };
            parameters?: Record<string, never>;
            /** @description Accepted and ignored */
            options?: {
                wait_for_model?: boolean;
                use_cache?: boolean;
                use_gpu?: boolean;
                dont_load_model?: boolean;
            };
        } | components["schemas"]["TeiEmbedRequest"];
        TeiEmbedRequest: {
            inputs: components["schemas"]["TeiInput"];
            /** @description Name of a prompt of the model that is prepended to every text */
            prompt_name?: string;
            /** @description Whether to truncate texts longer than the model reads; otherwise they are refused. Default: the setting longTexts */
            truncate?: boolean;
            /**
             * @description Which side of a text that is too long is left out: only right is supported. Default: right. In lower case as well
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right";
            /** @description Accepted where it is empty */
            parameters?: Record<string, never>;
            /** @description Accepted where it is empty */
            options?: Record<string, never>;
            /** @description Whether to scale vectors to unit length. Default: true */
            normalize?: boolean;
            /** @description Number of leading dimensions to keep */
            dimensions?: number;
        };
        /** @description A text or a list of texts, each a string or token ids of the model's own tokenizer */
        TeiInput: string | number[] | (string | number[])[];
        InfinityModels: {
            /** @enum {string} */
            object: "list";
            data: {
                id: string;
                /** @enum {string} */
                object: "model";
                /** @enum {string} */
                owned_by: "infinity";
                /** @description When it was fetched, in seconds since 1970; 0 if unknown */
                created: number;
                /** @description Target on which it is in memory; empty if it is not */
                backend: string;
                /**
                 * @example [
                 *       "embed",
                 *       "rerank"
                 *     ]
                 */
                capabilities: string[];
                /** @description Empty: the queue is one for all models, see GET /metrics */
                stats: {
                    [key: string]: number;
                };
            }[];
        };
        OpenAIError: {
            error: {
                message: string;
                /** @example invalid_request_error */
                type: string;
                /** @description The invalid field, where there is one */
                param: string | null;
                /** @example model_not_found */
                code: string;
                retryable: boolean;
                retry_after_ms?: number;
                loading?: components["schemas"]["LoadProgress"];
            };
        };
        InfinityClassifications: {
            /** @enum {string} */
            object: "classify";
            /** @description Labels of each text, best first */
            data: {
                label: string;
                score: number;
            }[][];
            model: string;
            /** @description Number of tokens read */
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
            id: string;
            created: number;
        };
        InfinityClassifyRequest: {
            /**
             * @example [
             *       "I love it"
             *     ]
             */
            input: string[];
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            /** @description Scores are the model's logits. Default: false */
            raw_scores?: boolean;
        };
        AnthropicMessage: {
            id: string;
            /** @enum {string} */
            type: "message";
        } & {
            [key: string]: unknown;
        };
        AnthropicError: {
            /** @enum {string} */
            type: "error";
            error: {
                /** @example invalid_request_error */
                type: string;
                message: string;
                code: string;
                retryable: boolean;
                retry_after_ms?: number;
                loading?: components["schemas"]["LoadProgress"];
            };
            request_id?: string;
        };
        AnthropicMessagesRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            messages: ({
                /** @enum {string} */
                role: "user" | "assistant";
                content: string | {
                    [key: string]: unknown;
                }[];
            } & {
                [key: string]: unknown;
            })[];
            system?: string | {
                [key: string]: unknown;
            }[];
            tools?: {
                [key: string]: unknown;
            }[];
            /** @description Of the type "auto", "none", "any", or "tool" with a name */
            tool_choice?: {
                [key: string]: unknown;
            };
            /** @description Of the type "json_schema", with a schema: what the text must be */
            output_format?: {
                [key: string]: unknown;
            };
            /** @description `format`: as `output_format`; `effort` is given to the model's chat template */
            output_config?: {
                [key: string]: unknown;
            };
            /** @description Type disabled turns thinking off, where the model's chat template can */
            thinking?: {
                [key: string]: unknown;
            };
            max_tokens: number;
            stop_sequences?: string[];
            stream?: boolean;
            temperature?: number;
            top_p?: number;
            top_k?: number;
            metadata?: {
                [key: string]: unknown;
            };
            service_tier?: string;
            betas?: string[];
        };
        AnthropicTokenCount: {
            input_tokens: number;
        };
        AnthropicCountTokensRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            messages: ({
                /** @enum {string} */
                role: "user" | "assistant";
                content: string | {
                    [key: string]: unknown;
                }[];
            } & {
                [key: string]: unknown;
            })[];
            system?: string | {
                [key: string]: unknown;
            }[];
            tools?: {
                [key: string]: unknown;
            }[];
            /** @description Of the type "auto", "none", "any", or "tool" with a name */
            tool_choice?: {
                [key: string]: unknown;
            };
            /** @description Of the type "json_schema", with a schema: what the text must be */
            output_format?: {
                [key: string]: unknown;
            };
            /** @description `format`: as `output_format`; `effort` is given to the model's chat template */
            output_config?: {
                [key: string]: unknown;
            };
            /** @description Type disabled turns thinking off, where the model's chat template can */
            thinking?: {
                [key: string]: unknown;
            };
            betas?: string[];
        };
        OpenAIModels: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["OpenAIModel"][];
            models: components["schemas"]["CohereModel"][];
            /** @description Present if `models` goes on */
            next_page_token?: string;
        };
        OpenAIModel: {
            /** @example builtin */
            id: string;
            /** @enum {string} */
            object: "model";
            /** @description When it was fetched, in seconds since 1970; 0 if unknown */
            created: number;
            owned_by: string;
        };
        CohereModel: {
            name: string;
            /** @description Routes of Cohere's API that take it */
            endpoints: ("embed" | "rerank")[];
            /** @description Those for which it is the server's default model */
            default_endpoints: ("embed" | "rerank")[];
            /** @description Maximum tokens of a text; absent: no limit, or unknown */
            context_length?: number;
        };
        Model: {
            /** @example builtin */
            id: string;
            /** @enum {string} */
            object: "model";
            /** @description When it was fetched, in seconds since 1970; 0 if unknown */
            created: number;
            owned_by: string;
            name: string;
            /** @description Routes of Cohere's API that take it */
            endpoints: ("embed" | "rerank")[];
            /** @description Those for which it is the server's default model */
            default_endpoints: ("embed" | "rerank")[];
            /** @description Maximum tokens of a text; absent: no limit, or unknown */
            context_length?: number;
            /** @description Whether it is in memory */
            ready: boolean;
        };
        OpenAIEmbeddings: {
            /** @enum {string} */
            object: "list";
            data: {
                /** @enum {string} */
                object: "embedding" | "embedding_dict";
                index: number;
                /** @description The vector; an object by format if the request names several in a list */
                embedding: number[] | string | {
                    [key: string]: unknown;
                };
            }[];
            model: string;
            /** @description Number of tokens read, special tokens included */
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        OpenAIEmbeddingsRequest: {
            /**
             * @description Name of a model. Default: the server's default model
             * @example builtin
             */
            model?: string;
            /**
             * @description A text, a list of texts or of objects with `text`, or texts as token ids: with the special tokens of the model's own tokenizer around them, or as the server's setting tokenIds says
             * @example hello
             */
            input: string | string[] | number[] | number[][] | {
                text: string;
            }[];
            /** @description `base64`: little-endian 32-bit floats, or with output_dtype the bytes of that type. Mixedbread: also the types of output_dtype, and several in a list. Default: float */
            encoding_format?: ("float" | "int8" | "uint8" | "binary" | "ubinary" | "base64") | ("float" | "int8" | "uint8" | "binary" | "ubinary" | "base64")[];
            /**
             * @description Voyage: type of the numbers. int8: 127 times the unit vector, rounded; uint8: the same plus 128; ubinary: one bit for each dimension, 1 for positive numbers, eight in a byte; binary: the same minus 128. Default: float
             * @enum {string}
             */
            output_dtype?: "float" | "int8" | "uint8" | "binary" | "ubinary";
            /** @description Jina: as encoding_format */
            embedding_type?: ("float" | "int8" | "uint8" | "binary" | "ubinary" | "base64") | ("float" | "int8" | "uint8" | "binary" | "ubinary" | "base64")[];
            /** @description Number of leading dimensions to keep */
            dimensions?: number;
            /** @description The same, as Voyage names it */
            output_dimension?: number;
            /**
             * @description Voyage, NVIDIA, Cohere: what the texts are for; selects the model's prompt of that use. Without effect on models without such prompts
             * @enum {string}
             */
            input_type?: "search_document" | "search_query" | "classification" | "clustering" | "image" | "query" | "document" | "passage" | "retrieval.query" | "retrieval.passage" | "code.query" | "code.passage" | "separation" | "text-matching";
            /**
             * @description The same, as Jina names it
             * @enum {string}
             */
            task?: "search_document" | "search_query" | "classification" | "clustering" | "image" | "query" | "document" | "passage" | "retrieval.query" | "retrieval.passage" | "code.query" | "code.passage" | "separation" | "text-matching";
            /** @description Mixedbread, Jina: whether vectors are scaled to unit length. Default: what the model's files state */
            normalized?: boolean;
            /** @description Accepted and ignored */
            user?: string;
            /** @description Voyage: whether longer texts are truncated; otherwise they are refused */
            truncation?: boolean;
            /** @description What to do with texts longer than the model reads: cut (END, true) keeps their beginning, error (NONE, false) refuses them, windows embeds all parts; START is not built. Default: error, as with OpenAI */
            truncate?: ("cut" | "error" | "windows" | "NONE" | "START" | "END") | boolean;
            /**
             * @description NVIDIA: only texts are built
             * @enum {string}
             */
            modality?: "text";
            /**
             * @description Jina: not built; /api/chunk has late chunks
             * @enum {boolean}
             */
            late_chunking?: false;
            /**
             * @description Jina: not built here; see /api/embed/outputs
             * @enum {boolean}
             */
            return_multivector?: false;
        };
        ChatCompletion: {
            id: string;
            /** @enum {string} */
            object: "chat.completion";
            created: number;
            model: string;
            choices: unknown[];
            usage: {
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens: number;
                prompt_tokens_details: {
                    cached_tokens: number;
                };
            };
        };
        ChatCompletionsRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            messages: ({
                /** @enum {string} */
                role: "system" | "developer" | "user" | "assistant" | "tool";
                content?: (string | ({
                    type: string;
                    text?: string;
                    refusal?: string;
                } & {
                    [key: string]: unknown;
                })[]) | null;
                name?: string;
                tool_calls?: ({
                    id?: string;
                    /** @constant */
                    type?: "function";
                    function: {
                        name: string;
                        arguments: string | {
                            [key: string]: unknown;
                        };
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                })[] | null;
                tool_call_id?: string;
                reasoning_content?: string | null;
                reasoning?: string | null;
            } & {
                [key: string]: unknown;
            })[];
            /** @description Older name of `max_completion_tokens` */
            max_tokens?: number;
            /** @description Tokens to generate at most. Default: up to the model's context */
            max_completion_tokens?: number;
            temperature?: number;
            top_p?: number;
            /** @description As vLLM: draw among this many most probable tokens; 0 and -1: all */
            top_k?: number;
            min_p?: number;
            typical_p?: number;
            seed?: number;
            presence_penalty?: number;
            frequency_penalty?: number;
            repetition_penalty?: number;
            logit_bias?: {
                [key: string]: number;
            };
            stop?: string | string[];
            stop_token_ids?: number[];
            min_tokens?: number;
            ignore_eos?: boolean;
            n?: number;
            stream?: boolean;
            stream_options?: {
                include_usage?: boolean;
                continuous_usage_stats?: boolean;
            } & {
                [key: string]: unknown;
            };
            logprobs?: boolean;
            top_logprobs?: number;
            tools?: ({
                /** @constant */
                type: "function";
                function: {
                    name: string;
                    description?: string;
                    parameters?: unknown;
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            })[];
            /** @description "auto", "none", "required", or a function by its name: what is then called fits its schema */
            tool_choice?: unknown;
            parallel_tool_calls?: boolean;
            /** @description `{ "type": "json_object" }`, or `{ "type": "json_schema", "json_schema": { "name", "schema" } }`: the text is JSON, by a schema. Keywords that are not supported are refused */
            response_format?: unknown;
            /** @description As vLLM: one of `json`, `regex`, `choice`, `grammar`, `json_object` */
            structured_outputs?: unknown;
            /** @description As vLLM: a JSON Schema, or its text */
            guided_json?: unknown;
            /** @description As vLLM: a regular expression that the whole text matches */
            guided_regex?: string;
            /** @description As vLLM: the text is one of these */
            guided_choice?: string[];
            /** @description As vLLM: a grammar in GBNF */
            guided_grammar?: string;
            /** @description As llama.cpp: a JSON Schema */
            json_schema?: unknown;
            /** @description As llama.cpp: a grammar in GBNF */
            grammar?: string;
            /** @description Given to the model's chat template as `reasoning_effort`; `none` turns thinking off */
            reasoning_effort?: string;
            /** @description As vLLM: further variables of the model's chat template */
            chat_template_kwargs?: {
                [key: string]: unknown;
            };
            user?: string;
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Accepted and ignored: nothing is stored */
            store?: boolean;
            service_tier?: string;
            safety_identifier?: string;
            prompt_cache_key?: string;
            prompt_cache_retention?: string;
            verbosity?: string;
            prediction?: unknown;
            modalities?: "text"[];
        };
        Completion: {
            id: string;
            /** @enum {string} */
            object: "text_completion";
            created: number;
            model: string;
            choices: unknown[];
            usage?: unknown;
        };
        CompletionsRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            prompt: string | string[] | number[] | number[][];
            /** @description Tokens to generate at most. Default: 16 */
            max_tokens?: number;
            temperature?: number;
            top_p?: number;
            /** @description As vLLM: draw among this many most probable tokens; 0 and -1: all */
            top_k?: number;
            min_p?: number;
            typical_p?: number;
            seed?: number;
            presence_penalty?: number;
            frequency_penalty?: number;
            repetition_penalty?: number;
            logit_bias?: {
                [key: string]: number;
            };
            stop?: string | string[];
            stop_token_ids?: number[];
            min_tokens?: number;
            ignore_eos?: boolean;
            n?: number;
            /** @description `{ "type": "json_object" }`, or `{ "type": "json_schema", "json_schema": { "name", "schema" } }`: the text is JSON, by a schema. Keywords that are not supported are refused */
            response_format?: unknown;
            /** @description As vLLM: one of `json`, `regex`, `choice`, `grammar`, `json_object` */
            structured_outputs?: unknown;
            /** @description As vLLM: a JSON Schema, or its text */
            guided_json?: unknown;
            /** @description As vLLM: a regular expression that the whole text matches */
            guided_regex?: string;
            /** @description As vLLM: the text is one of these */
            guided_choice?: string[];
            /** @description As vLLM: a grammar in GBNF */
            guided_grammar?: string;
            /** @description As llama.cpp: a JSON Schema */
            json_schema?: unknown;
            /** @description As llama.cpp: a grammar in GBNF */
            grammar?: string;
            stream?: boolean;
            stream_options?: {
                include_usage?: boolean;
                continuous_usage_stats?: boolean;
            } & {
                [key: string]: unknown;
            };
            logprobs?: number;
            /** @description Whether the prompt stands before each text */
            echo?: boolean;
            /** @description Not built yet */
            suffix?: string;
            /** @description Only the value of `n` */
            best_of?: number;
            add_special_tokens?: boolean;
            skip_special_tokens?: boolean;
            user?: string;
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Accepted and ignored: nothing is stored */
            store?: boolean;
            service_tier?: string;
            safety_identifier?: string;
            prompt_cache_key?: string;
            prompt_cache_retention?: string;
            verbosity?: string;
            prediction?: unknown;
            modalities?: "text"[];
        };
        Response: {
            id: string;
            /** @enum {string} */
            object: "response";
        } & {
            [key: string]: unknown;
        };
        ResponsesRequest: {
            /** @description Name of a model. Default: the server's default model */
            model?: string;
            input: string | {
                [key: string]: unknown;
            }[];
            instructions?: string;
            max_output_tokens?: number;
            temperature?: number;
            top_p?: number;
            /** @description Only 0 */
            top_logprobs?: number;
            tools?: ({
                type: string;
                name?: string;
            } & {
                [key: string]: unknown;
            })[];
            tool_choice?: unknown;
            parallel_tool_calls?: boolean;
            stream?: boolean;
            stream_options?: {
                [key: string]: unknown;
            };
            text?: {
                format?: unknown;
            } & {
                [key: string]: unknown;
            };
            reasoning?: {
                effort?: string | null;
            } & {
                [key: string]: unknown;
            };
            /** @description Refused: nothing is stored */
            previous_response_id?: string;
            /** @description Refused: nothing is stored */
            conversation?: unknown;
            /** @description Only false */
            background?: boolean;
            /** @enum {string} */
            truncation?: "disabled";
            /** @description Accepted and ignored */
            include?: string[];
            user?: string;
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Accepted and ignored: nothing is stored */
            store?: boolean;
            service_tier?: string;
            safety_identifier?: string;
            prompt_cache_key?: string;
            prompt_cache_retention?: string;
            verbosity?: string;
            prediction?: unknown;
            modalities?: "text"[];
        };
        TeiEmbedAllRequest: {
            inputs: components["schemas"]["TeiInput"];
            /** @description Name of a prompt of the model that is prepended to every text */
            prompt_name?: string;
            /** @description Whether to truncate texts longer than the model reads; otherwise they are refused. Default: the setting longTexts */
            truncate?: boolean;
            /**
             * @description Which side of a text that is too long is left out: only right is supported. Default: right. In lower case as well
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right";
            /** @description Accepted where it is empty */
            parameters?: Record<string, never>;
            /** @description Accepted where it is empty */
            options?: Record<string, never>;
        };
        TeiEmbedSparseRequest: {
            inputs: components["schemas"]["TeiInput"];
            /** @description Name of a prompt of the model that is prepended to every text */
            prompt_name?: string;
            /** @description Whether to truncate texts longer than the model reads; otherwise they are refused. Default: the setting longTexts */
            truncate?: boolean;
            /**
             * @description Which side of a text that is too long is left out: only right is supported. Default: right. In lower case as well
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right";
            /** @description Accepted where it is empty */
            parameters?: Record<string, never>;
            /** @description Accepted where it is empty */
            options?: Record<string, never>;
        };
        TeiRerankRequest: {
            query: string;
            texts: string[];
            /** @description Return the model's raw output, without an activation function. Default: false */
            raw_scores?: boolean;
            /** @description Whether results contain their texts. Default: false */
            return_text?: boolean;
            /** @description Whether to truncate texts longer than the model reads; otherwise they are refused. Default: the setting longTexts */
            truncate?: boolean;
            /**
             * @description Which side of a text that is too long is left out: only right is supported. Default: right. In lower case as well
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right";
            /** @description Accepted where it is empty */
            parameters?: Record<string, never>;
            /** @description Accepted where it is empty */
            options?: Record<string, never>;
            /** @description Accepted and ignored, as text-embeddings-inference does */
            top_n?: number;
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
            /** @description Return the model's raw output, without an activation function. Default: false */
            raw_scores?: boolean;
            /** @description Whether to truncate texts longer than the model reads; otherwise they are refused. Default: the setting longTexts */
            truncate?: boolean;
            /**
             * @description Which side of a text that is too long is left out: only right is supported. Default: right. In lower case as well
             * @enum {string}
             */
            truncation_direction?: "Left" | "Right";
            /** @description Accepted where it is empty */
            parameters?: Record<string, never>;
            /** @description Accepted where it is empty */
            options?: Record<string, never>;
        };
        TeiSimilarityRequest: {
            inputs: {
                source_sentence: string;
                sentences: string[];
            };
            parameters?: {
                /** @description Name of a prompt of the model that is prepended to every text */
                prompt_name?: string;
                /** @description Whether to truncate texts longer than the model reads; otherwise they are refused. Default: the setting longTexts */
                truncate?: boolean;
                /**
                 * @description Which side of a text that is too long is left out: only right is supported. Default: right. In lower case as well
                 * @enum {string}
                 */
                truncation_direction?: "Left" | "Right";
            };
        };
        TeiToken: {
            id: number;
            text: string;
            special: boolean;
            /** @description Offset in code points of the prompt and the text; special tokens have none */
            start?: number;
            stop?: number;
        };
        TeiTokenizeRequest: {
            /** @example a cat */
            inputs: string | string[];
            /** @description Whether to add special tokens. Default: true */
            add_special_tokens?: boolean;
            /** @description Name of a prompt of the model that is prepended to every text */
            prompt_name?: string;
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
             * @description Data type of the loaded weights, else of the model's first variant
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
            /** @description Maximum tokens of a text; 2147483647: no limit */
            max_input_length: number;
            max_batch_tokens: number;
            max_client_batch_size: number;
            /** @description Whether texts that are too long are cut where the request has no `truncate` */
            auto_truncate: boolean;
            tokenization_workers: number;
            /** @description Version of Inferyard */
            version: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics, in the format that Accept prefers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                    "application/openmetrics-text": string;
                };
            };
            /** @description A valid API key is required */
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
    get_api_events: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, until the client disconnects or the server shuts down */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
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
    get_health_live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server is live */
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
    get_health: {
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
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description It is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    get_health_ready: {
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
    get_api_status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current state */
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
    post_api_embeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaEmbeddingsRequest"];
            };
        };
        responses: {
            /** @description The embedding of one text, as Ollama's older route */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaEmbeddings"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
        };
    };
    get_api_tags: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every model that requests may name and whose files are on this machine */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaTags"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
        };
    };
    get_api_ps: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Those that requests may name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaProcesses"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
        };
    };
    post_api_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaShowRequest"];
            };
        };
        responses: {
            /** @description One model, as Ollama */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaShow"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
        };
    };
    post_api_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaChatRequest"];
            };
        };
        responses: {
            /** @description The answer in lines of JSON while it is generated; without `stream`, as one object */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaChat"];
                    "application/x-ndjson": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
        };
    };
    post_api_generate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaGenerateRequest"];
            };
        };
        responses: {
            /** @description The answer in lines of JSON while it is generated; without `stream`, as one object */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaGenerate"];
                    "application/x-ndjson": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OllamaError"];
                };
            };
        };
    };
    post_api_embed: {
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
            /** @description A vector per text. With `Accept: application/octet-stream`: count and dimension as u64, then the rows as f32, little-endian */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmbedResponse"];
                    "application/octet-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_embed_outputs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmbedOutputsRequest"];
            };
        };
        responses: {
            /** @description Embeddings of texts in several forms */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmbedOutputsResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_classify: {
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
            /** @description Labels of texts, with scores */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClassifyResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_rerank: {
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
            /** @description Relevance of texts to a query */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferyardRerankResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_recognize: {
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
            /** @description Named entities in texts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecognizeResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_fill_mask: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FillMaskRequest"];
            };
        };
        responses: {
            /** @description Tokens for the mask tokens of texts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FillMaskResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_answer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerRequest"];
            };
        };
        responses: {
            /** @description Answers to a question, as pieces of contexts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_chunk: {
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
            /** @description Split a long text into chunks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_rewrite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RewriteRequest"];
            };
        };
        responses: {
            /** @description Summarize, translate or otherwise rewrite texts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RewriteResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    get_api_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every model that requests may name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Models"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    get_api_models_name_decision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a model; slashes may be percent-encoded */
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
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_models_name_load: {
        parameters: {
            query?: {
                /** @description false: respond at once with 202; repeat the request until it responds with 200 */
                wait?: "true" | "false";
            };
            header?: never;
            path: {
                /** @description Name of a model; slashes may be percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where the model was loaded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoadedModel"];
                };
            };
            /** @description The model is loading */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoadingModel"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_models_name_unload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a model; slashes may be percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the model was in memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnloadedModel"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    get_api_explain: {
        parameters: {
            query?: {
                /** @description Name of a model, optionally with a target (name@onnx:cpu). Default: the server's default model */
                model?: string;
                /** @description The only target that may run the model */
                target?: string;
                /** @description Target to try first */
                prefer?: string;
                /** @description Target never to use */
                exclude?: string;
                /** @description Use of accelerators */
                gpu?: "auto" | "off" | "cuda" | "rocm" | "coreml" | "directml" | "webgpu" | "openvino" | "tpu";
                /** @description Variant of the model */
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
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_explain: {
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
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    get_api_backends: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every backend */
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
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_library_reload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReloadLibraryRequest"];
            };
        };
        responses: {
            /** @description Replace the native library of the backend `library` while models serve (admins) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReloadReport"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request timed out */
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
    post_api_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This route is not built yet */
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
    post_api_transcribe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This route is not built yet */
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
    post_v1_embed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CohereEmbedRequest"];
            };
        };
        responses: {
            /** @description A vector per text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereEmbeddings"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The request timed out */
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
    post_v2_embed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CohereEmbedRequest"];
            };
        };
        responses: {
            /** @description A vector per text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereEmbeddings"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_rerank: {
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
            /** @description Rank documents by relevance, as the APIs of Cohere (v1), Jina and Voyage */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RerankResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The request timed out */
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
    post_v2_rerank: {
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
            /** @description Rank documents by relevance, as Cohere's API v2 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RerankResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_reranking: {
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
            /** @description Rank documents by relevance, as Mixedbread and llama.cpp */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RerankResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The request timed out */
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
    post_reranking: {
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
            /** @description Rank documents by relevance, as llama.cpp */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RerankResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_ranking: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RankingRequest"];
            };
        };
        responses: {
            /** @description Rank passages by relevance, as NVIDIA NIM */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RankingResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CohereError"];
                };
            };
            /** @description The request timed out */
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
    get_v2: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server's metadata */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerMetadata"];
                };
            };
            /** @description A valid API key is required */
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
    get_v2_health_live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server is live */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerLive"];
                };
            };
        };
    };
    get_v2_health_ready: {
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
                    "application/json": components["schemas"]["ServerReady"];
                };
            };
            /** @description Send none */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerReady"];
                };
            };
        };
    };
    get_v2_models_stats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry for each model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelStatistics"];
                };
            };
            /** @description A valid API key is required */
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
    get_v2_models_model_stats: {
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
            /** @description One entry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelStatistics"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    get_v2_models_model_versions_version_stats: {
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
            /** @description One entry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelStatistics"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    get_v2_models_model_config: {
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
            /** @description Its inputs and outputs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelConfig"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    get_v2_models_model_versions_version_config: {
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
            /** @description Its inputs and outputs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelConfig"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_models_model_predict: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PredictRequest"];
            };
        };
        responses: {
            /** @description The predictions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PredictResponse"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    get_v2_models_model: {
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
            /** @description Its metadata */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelMetadata"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    get_v2_models_model_versions_version: {
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
            /** @description Its metadata */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelMetadata"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    get_v2_models_model_ready: {
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
            /** @description The model is loaded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelReady"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model is not loaded, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    get_v2_models_model_versions_version_ready: {
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
            /** @description The model is loaded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelReady"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model is not loaded, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    post_v2_models_model_infer: {
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
            /** @description Outputs; those requested as binary data follow the JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferResponse"];
                    "application/octet-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    post_v2_models_model_versions_version_infer: {
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
            /** @description Outputs; those requested as binary data follow the JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferResponse"];
                    "application/octet-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    post_v2_repository_index: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Only models that are loaded */
                    ready?: boolean;
                };
            };
        };
        responses: {
            /** @description Name, version and state of each model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepositoryIndex"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    post_v2_repository_models_model_load: {
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
            /** @description The model is loaded, and a probe has run on it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    post_v2_repository_models_model_unload: {
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
            /** @description The model is not in memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceError"];
                };
            };
            /** @description The request timed out */
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
    post_pipeline_task_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task: string;
                model: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineRequest"];
            };
        };
        responses: {
            /** @description A task of Hugging Face's pipelines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_models_model_pipeline_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
                task: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineRequest"];
            };
        };
        responses: {
            /** @description A task of Hugging Face's pipelines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_models_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineRequest"];
            };
        };
        responses: {
            /** @description A task of Hugging Face's pipelines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    get_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every model that requests may name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InfinityModels"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_classify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InfinityClassifyRequest"];
            };
        };
        responses: {
            /** @description Labels of texts, as Infinity */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InfinityClassifications"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_messages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnthropicMessagesRequest"];
            };
        };
        responses: {
            /** @description The message; with `stream`, its events as server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicMessage"];
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
        };
    };
    post_v1_messages_count_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnthropicCountTokensRequest"];
            };
        };
        responses: {
            /** @description Count the tokens of a conversation, as Anthropic */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicTokenCount"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The client may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description There is no such model */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
            /** @description The request timed out */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicError"];
                };
            };
        };
    };
    get_v1_models: {
        parameters: {
            query?: {
                /** @description `models`: only those of this endpoint of Cohere's API */
                endpoint?: string;
                /** @description `models`: only the default model of `endpoint` */
                default_only?: "true" | "false";
                /** @description Maximum length of `models` */
                page_size?: number;
                /** @description `next_page_token` of the page before */
                page_token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every model that requests may name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIModels"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    get_v1_models_model: {
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
                    "application/json": components["schemas"]["Model"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    get_openai_v1_models: {
        parameters: {
            query?: {
                /** @description `models`: only those of this endpoint of Cohere's API */
                endpoint?: string;
                /** @description `models`: only the default model of `endpoint` */
                default_only?: "true" | "false";
                /** @description Maximum length of `models` */
                page_size?: number;
                /** @description `next_page_token` of the page before */
                page_token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every model that requests may name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIModels"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    get_openai_v1_models_model: {
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
                    "application/json": components["schemas"]["Model"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    get_openai_models: {
        parameters: {
            query?: {
                /** @description `models`: only those of this endpoint of Cohere's API */
                endpoint?: string;
                /** @description `models`: only the default model of `endpoint` */
                default_only?: "true" | "false";
                /** @description Maximum length of `models` */
                page_size?: number;
                /** @description `next_page_token` of the page before */
                page_token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every model that requests may name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIModels"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    get_openai_models_model: {
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
                    "application/json": components["schemas"]["Model"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_embeddings: {
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
            /** @description A vector per text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIEmbeddings"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_embeddings: {
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
            /** @description A vector per text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIEmbeddings"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_openai_v1_embeddings: {
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
            /** @description A vector per text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIEmbeddings"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_openai_deployments_deployment_embeddings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a model */
                deployment: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAIEmbeddingsRequest"];
            };
        };
        responses: {
            /** @description A vector per text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIEmbeddings"];
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_chat_completions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionsRequest"];
            };
        };
        responses: {
            /** @description The answers; with `stream`, chunks as server-sent events, the last one [DONE] */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_openai_v1_chat_completions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionsRequest"];
            };
        };
        responses: {
            /** @description The answers; with `stream`, chunks as server-sent events, the last one [DONE] */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_openai_deployments_deployment_chat_completions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a model */
                deployment: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionsRequest"];
            };
        };
        responses: {
            /** @description The answers; with `stream`, chunks as server-sent events, the last one [DONE] */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_completions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompletionsRequest"];
            };
        };
        responses: {
            /** @description The texts; with `stream`, chunks as server-sent events, the last one [DONE] */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Completion"];
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_v1_responses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponsesRequest"];
            };
        };
        responses: {
            /** @description The response; with `stream`, its events as server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The model does not support this */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIError"];
                };
            };
            /** @description The request timed out */
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
    post_embed: {
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
            /** @description Embeddings of texts, as text-embeddings-inference */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": number[][];
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_embed_all: {
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
            /** @description Embeddings of every token, as text-embeddings-inference */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": number[][][];
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_embed_sparse: {
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
            /** @description Sparse embeddings (weights of vocabulary tokens), as text-embeddings-inference */
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
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_rerank: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeiRerankRequest"] | components["schemas"]["RerankRequest"];
            };
        };
        responses: {
            /** @description Rank texts by relevance, as text-embeddings-inference (texts) or as Cohere, Jina, vLLM and Infinity (documents) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        index: number;
                        score: number;
                        text?: string;
                    }[] | components["schemas"]["RerankResponse"];
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_predict: {
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
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_similarity: {
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
            /** @description Cosine similarity of a text to others, as text-embeddings-inference */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": number[];
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_tokenize: {
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
            /** @description Tokenize texts, as text-embeddings-inference */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiToken"][][];
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_decode: {
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
            /** @description Decode token ids, as text-embeddings-inference */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    get_info: {
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
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_root: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeiEmbedRequest"] | components["schemas"]["TeiPredictRequest"] | components["schemas"]["TeiRerankRequest"] | {
                    inputs: string | string[];
                    parameters?: {
                        top_k?: number;
                        /** @enum {string} */
                        function_to_apply?: "sigmoid" | "softmax" | "none";
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: string | string[];
                    parameters?: {
                        /** @enum {string} */
                        aggregation_strategy?: "none" | "simple" | "first" | "average" | "max";
                        ignore_labels?: string[];
                        stride?: number;
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: string | string[];
                    parameters: {
                        candidate_labels: string | string[];
                        multi_label?: boolean;
                        hypothesis_template?: string;
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: string | string[];
                    parameters?: {
                        top_k?: number;
                        targets?: string[];
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: {
                        question: string;
                        context: string;
                    };
                    parameters?: {
                        top_k?: number;
                        max_answer_len?: number;
                        doc_stride?: number;
                        handle_impossible_answer?: boolean;
                        align_to_words?: boolean;
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: {
                        source_sentence: string;
                        sentences: string[];
                    };
                    parameters?: Record<string, never>;
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                };
            };
        };
        responses: {
            /** @description What the default model does, as text-embeddings-inference and Hugging Face's pipelines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown[] | {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
    post_invocations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeiEmbedRequest"] | components["schemas"]["TeiPredictRequest"] | components["schemas"]["TeiRerankRequest"] | {
                    inputs: string | string[];
                    parameters?: {
                        top_k?: number;
                        /** @enum {string} */
                        function_to_apply?: "sigmoid" | "softmax" | "none";
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: string | string[];
                    parameters?: {
                        /** @enum {string} */
                        aggregation_strategy?: "none" | "simple" | "first" | "average" | "max";
                        ignore_labels?: string[];
                        stride?: number;
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: string | string[];
                    parameters: {
                        candidate_labels: string | string[];
                        multi_label?: boolean;
                        hypothesis_template?: string;
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: string | string[];
                    parameters?: {
                        top_k?: number;
                        targets?: string[];
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: {
                        question: string;
                        context: string;
                    };
                    parameters?: {
                        top_k?: number;
                        max_answer_len?: number;
                        doc_stride?: number;
                        handle_impossible_answer?: boolean;
                        align_to_words?: boolean;
                    };
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                } | {
                    inputs: {
                        source_sentence: string;
                        sentences: string[];
                    };
                    parameters?: Record<string, never>;
                    /** @description Accepted and ignored */
                    options?: {
                        wait_for_model?: boolean;
                        use_cache?: boolean;
                        use_gpu?: boolean;
                        dont_load_model?: boolean;
                    };
                };
            };
        };
        responses: {
            /** @description What the default model does, as text-embeddings-inference and Hugging Face's pipelines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown[] | {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description The input is empty */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description A valid API key is required */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The client may not do this */
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
            /** @description The request exceeds a limit, or a text is longer than the model reads */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The media type, encoding or charset of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request is invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The model does not support this, or failed */
            424: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeiError"];
                };
            };
            /** @description The request timed out */
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
}
