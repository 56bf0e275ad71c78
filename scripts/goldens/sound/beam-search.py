"""Writes beam-search.goldens.json beside src/tasks/speech/ctc/words: texts of pyctcdecode 0.5.0 on random logits, with a random 3-gram model.

python3 beam-search.py OUTPUT (needs numpy and pyctcdecode; the class Model stands in for kenlm's, by the definition of back-off)
"""
import json, os, random, sys, tempfile, types
import re
class State:
    def __init__(self): self.ctx=()
class Model:
    def __init__(self,path):
        self.path=path.encode() if isinstance(path,str) else path
        self.p={}; self.b={}; n=0; self.order=0
        for line in open(path):
            line=line.rstrip("\n")
            m=re.match(r"\\(\d+)-grams:",line)
            if m: n=int(m.group(1)); self.order=n; continue
            if not line or line.startswith("\\") or n==0: continue
            f=line.split("\t"); w=tuple(f[1].split(" ")); self.p[w]=float(f[0]); self.b[w]=float(f[2]) if len(f)>2 else 0.0
    def __contains__(self,w): return (w,) in self.p and w!="<unk>"
    def BeginSentenceWrite(self,s): s.ctx=("<s>",)
    def NullContextWrite(self,s): s.ctx=()
    def _s(self,ctx,w):
        if ctx+(w,) in self.p: return self.p[ctx+(w,)]
        if not ctx: return self.p.get(("<unk>",),-100.0)
        return self.b.get(ctx,0.0)+self._s(ctx[1:],w)
    def BaseScore(self,st,w,out):
        if (w,) not in self.p: w="<unk>"
        r=self._s(st.ctx,w)
        out.ctx=(st.ctx+(w,))[-(self.order-1):] if self.order>1 else ()
        return r

kenlm = types.ModuleType("kenlm")
kenlm.State, kenlm.Model = State, Model
sys.modules["kenlm"] = kenlm
import numpy as np
from pyctcdecode.alphabet import Alphabet
from pyctcdecode.decoder import BeamSearchDecoderCTC
from pyctcdecode.language_model import LanguageModel
rng=np.random.default_rng(7)
labels=["", " ", "a","b","c","d","\u2047"]
words=["a","ab","abc","b","bad","cab","dab","dad","d"]
r=random.Random(3)
def lp(): return round(-r.uniform(0.2,2.5),3)
def bo(): return round(-r.uniform(0,0.9),3)
uni=[("<unk>",-3.2,None),("<s>",-99,bo()),("</s>",lp(),None)]+[(w,lp(),bo()) for w in words]
bi=[]; 
for a in ["<s>"]+words:
    for b in r.sample(words+["</s>"],4): bi.append((a,b,lp(),bo()))
tri=[]
for a,b,_,_ in r.sample(bi,20):
    if b=="</s>": continue
    for c in r.sample(words+["</s>"],2): 
        if any(x==b and y==c for x,y,_,_ in bi): tri.append((a,b,c,lp()))
out=["\\data\\","ngram 1=%d"%len(uni),"ngram 2=%d"%len(bi),"ngram 3=%d"%len(tri),"","\\1-grams:"]
fmt=lambda p,w,b: "%s\t%s"%(p,w)+("\t%s"%b if b is not None else "")
out+=[fmt(p,w,b) for w,p,b in uni]+["","\\2-grams:"]+[fmt(p,a+" "+b_,b) for a,b_,p,b in bi]+["","\\3-grams:"]+[fmt(p,a+" "+b_+" "+c,None) for a,b_,c,p in tri]+["","\\end\\",""]
arpa="\n".join(out); path=os.path.join(tempfile.mkdtemp(),"small.arpa"); open(path,"w").write(arpa)
cases=[]
def run(frames, width, unigrams, attrs, scale, seed):
    g=np.random.default_rng(seed)
    logits=np.round(g.normal(0,scale,(frames,len(labels))),2).astype(np.float32)
    logits[:,0]+=0.5; logits=np.round(logits,2)
    lm=LanguageModel(kenlm.Model(path),unigrams,**attrs) if attrs is not None else None
    d=BeamSearchDecoderCTC(Alphabet(labels,False),lm)
    beams=d.decode_beams(logits.copy(),beam_width=width)
    cases.append(dict(beams=width,unigrams=unigrams,attrs=attrs,logits=[[round(float(x),2) for x in row] for row in logits],
        results=[dict(text=b[0],words=[[w,list(f)] for w,f in b[2]],logit=round(float(b[3]),5),score=round(float(b[4]),5)) for b in beams[:3]]))
std=dict(alpha=0.5,beta=1.5,unk_score_offset=-10.0,score_boundary=True)
run(20,100,words,std,2.0,1); run(30,10,words,std,2.5,2); run(24,50,words[:5]+["zzz"],std,1.5,3)
run(25,100,[],std,2.0,4); run(25,30,words,dict(std,alpha=0.9,beta=0.3,score_boundary=False),2.0,5); run(40,100,words,dict(std,unk_score_offset=-2.0),2.0,6)
run(60,100,words,std,3.0,8)
json.dump(dict(labels=labels,arpa=arpa,cases=cases),open(sys.argv[1],"w"))
