"""Logits before and after transformers' processors, warpers, and beam searches over a table of logits: the file of sampling.test.ts.

Needs torch and transformers 4.57.1. Usage: python scripts/goldens/transformers/sampling-goldens.py > src/tasks/generation/sampling/sampling-goldens.json
"""
import json, warnings, sys
warnings.filterwarnings("ignore")
import torch
from transformers import GenerationConfig, PreTrainedModel, PretrainedConfig, GenerationMixin, logging as tl
from transformers.modeling_outputs import CausalLMOutputWithPast
tl.set_verbosity_error()
VOCAB = 12

def table(seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(VOCAB, VOCAB, generator=generator) * 2

class TableConfig(PretrainedConfig):
    model_type = "table"
    def __init__(self, **kw):
        super().__init__(**kw)
        self.vocab_size = VOCAB
        self.num_hidden_layers = 1
        self.hidden_size = 8
        self.num_attention_heads = 1

class Table(PreTrainedModel, GenerationMixin):
    """Logits of the next token depend on the last two tokens and the length."""
    config_class = TableConfig
    def __init__(self, config, seed):
        super().__init__(config)
        self.weights = torch.nn.Parameter(table(seed))
    def prepare_inputs_for_generation(self, input_ids, **kw):
        return {"input_ids": input_ids}
    def forward(self, input_ids, **kw):
        last = self.weights[input_ids]
        previous = torch.cat([input_ids[:, :1], input_ids[:, :-1]], dim=1)
        return CausalLMOutputWithPast(logits=last + 0.5 * self.weights[previous].flip(-1) + 0.25 * self.weights[input_ids.shape[1] * 7 % VOCAB])

def rounded(t):
    return [None if v == float("-inf") else v for v in t.tolist()]

def processed():
    cases = []
    settings = [
        {"repetition_penalty": 1.3}, {"no_repeat_ngram_size": 2}, {"no_repeat_ngram_size": 3}, {"bad_words_ids": [[3], [5, 6]]},
        {"min_length": 9, "eos_token_id": [1, 2]}, {"min_new_tokens": 4, "eos_token_id": [1]}, {"suppress_tokens": [4, 7]},
        {"begin_suppress_tokens": [4, 7]}, {"forced_eos_token_id": [1], "max_length": 8}, {"sequence_bias": [[[6], -3.0], [[5, 6], 2.5]]},
        {"sequence_bias": [[[6], 1.5]], "repetition_penalty": 1.7, "no_repeat_ngram_size": 2, "min_new_tokens": 3, "eos_token_id": [9], "bad_words_ids": [[2]]},
        {"do_sample": True, "temperature": 0.7}, {"do_sample": True, "top_k": 3}, {"do_sample": True, "top_p": 0.8, "top_k": 0},
        {"do_sample": True, "min_p": 0.2, "top_k": 0}, {"do_sample": True, "typical_p": 0.6, "top_k": 0},
        {"do_sample": True, "temperature": 1.8, "top_k": 8, "top_p": 0.9, "min_p": 0.05, "typical_p": 0.95, "repetition_penalty": 1.2},
    ]
    for number, given in enumerate(settings):
        for tokens, prompt in (([5], 1), ([5, 6, 2, 5, 6, 2, 5], 3), ([0, 3, 3, 1, 11, 5], 2)):
            config = GenerationConfig(**{"top_k": 0, **given, "pad_token_id": 0})
            model = Table(TableConfig(), 100 + number)
            config._eos_token_tensor = torch.tensor(given["eos_token_id"]) if "eos_token_id" in given else None
            ids = torch.tensor([tokens])
            length = given.get("max_length", 20)
            config.max_length = length
            processors = model._get_logits_processor(config, input_ids_seq_length=prompt, encoder_input_ids=ids[:, :prompt], prefix_allowed_tokens_fn=None, logits_processor=[], device="cpu")
            logits = model(ids).logits[:, -1]
            after = processors(ids, logits.clone())
            cases.append({"settings": given, "maxLength": length, "tokens": tokens, "promptLength": prompt, "logits": rounded(logits[0].detach()), "after": rounded(after[0].detach())})
    return cases

def beams():
    cases = []
    for seed in range(6):
        for given in ({"num_beams": 3}, {"num_beams": 2, "length_penalty": 2.0}, {"num_beams": 4, "early_stopping": True}, {"num_beams": 3, "early_stopping": "never", "length_penalty": -1.0}, {"num_beams": 3, "no_repeat_ngram_size": 2, "length_penalty": 0.0}, {"num_beams": 4, "eos": [1, 2, 3]}):
            own = dict(given); eos = own.pop("eos", [1])
            model = Table(TableConfig(), 200 + seed)
            out = model.generate(torch.tensor([[5, 6]]), max_new_tokens=9, eos_token_id=eos, pad_token_id=0, do_sample=False, num_return_sequences=own["num_beams"], return_dict_in_generate=True, output_scores=True, use_cache=False, **own)
            rows = []
            for row in out.sequences.tolist():
                body = row[2:]
                end = next((i + 1 for i, t in enumerate(body) if t in eos), len(body))
                rows.append(row[:2 + end])
            cases.append({"settings": own, "endTokens": eos, "seed": seed, "sequences": rows, "scores": out.sequences_scores.tolist()})
    return cases

tables = [[rounded(row) for row in table(200 + seed)] for seed in range(6)]
json.dump({"tables": tables, "processed": processed(), "beams": beams()}, sys.stdout)
