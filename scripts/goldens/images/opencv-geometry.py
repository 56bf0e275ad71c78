"""Values of OpenCV 5.0.0 (opencv-python-headless 5.0.0.93), pyclipper 1.4.0 and shapely 2.2.0 for the geometry of text boxes: opencv-geometry.py COUNT OUT SEED
src/processors/images/geometry/geometry-goldens.json is the output of: opencv-geometry.py 8 geometry-goldens.json 21"""
import base64
import json
import sys

import cv2
import numpy as np
import pyclipper
from shapely.geometry import Polygon
n=int(sys.argv[1]); out=sys.argv[2]; seed=int(sys.argv[3]) if len(sys.argv)>3 else 7
rng=np.random.default_rng(seed)
b64=lambda a: base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()
def pic(w,h,c): return rng.integers(0,256,(h,w,c),dtype=np.uint8) if rng.random()<.5 else np.clip(np.cumsum(rng.integers(-20,21,(h,w,c)),1)+128,0,255).astype(np.uint8)
g={'resize':[],'contours':[],'rectangles':[],'fill':[],'offset':[],'warp':[],'dilate':[]}
for k in range(n):
    w,h,c=int(rng.integers(2,40)),int(rng.integers(2,40)),int(rng.choice([1,3]))
    W,H=int(rng.integers(1,50)),int(rng.integers(1,50))
    if k%5==0: W,H,w,h=max(w//2,1),max(h//2,1),2*max(w//2,1),2*max(h//2,1)
    p=pic(w,h,c); r=cv2.resize(p if c>1 else p[:,:,0],(W,H))
    g['resize'].append({'from':[w,h,c],'to':[W,H],'data':b64(p),'resized':b64(r)})
def blob(w,h,k):
    m=np.zeros((h,w),np.uint8)
    if k%3==0: m=(rng.random((h,w))<rng.uniform(.2,.8)).astype(np.uint8)
    else:
        for _ in range(int(rng.integers(1,5))):
            c=(int(rng.integers(0,w)),int(rng.integers(0,h)))
            cv2.ellipse(m,c,(int(rng.integers(1,max(w//2,2))),int(rng.integers(1,max(h//3,2)))),float(rng.uniform(0,180)),0,360,1,-1)
        if k%3==2:
            c=(int(rng.integers(0,w)),int(rng.integers(0,h))); cv2.circle(m,c,int(rng.integers(1,4)),0,-1)
    return m
rects=[]
def box(pts):
    return [[float(v) for v in p] for p in pts]
for k in range(n):
    w,h=int(rng.integers(1,60)),int(rng.integers(1,40))
    m=blob(w,h,k)
    cs,_=cv2.findContours(m*255,cv2.RETR_LIST,cv2.CHAIN_APPROX_SIMPLE)
    cs=[c.reshape(-1,2).tolist() for c in cs]
    g['contours'].append({'size':[w,h],'mask':b64(m),'contours':cs})
    g['dilate'].append({'size':[w,h],'mask':b64(m),'dilated':b64(cv2.dilate(m,np.array([[1,1],[1,1]])))})
    for c in cs[:3]:
        r=cv2.minAreaRect(np.array(c,np.int32).reshape(-1,1,2))
        g['rectangles'].append({'points':c,'center':list(r[0]),'size':list(r[1]),'angle':r[2],'corners':box(cv2.boxPoints(r)),'hull':cv2.convexHull(np.array(c,np.int32).reshape(-1,1,2),clockwise=False).reshape(-1,2).tolist()})
for k in range(n):
    # big rotated text-like quads
    c=rng.uniform(20,700,2); s=rng.uniform(3,300,2); a=float(rng.uniform(-90,0)) if k%4 else float(rng.choice([-90,-1,-89.5,-45]))
    q=np.round(cv2.boxPoints(((c[0],c[1]),(s[0],s[1]),a))+rng.integers(0,2,(4,2))).astype(np.int32)
    r=cv2.minAreaRect(q.reshape(-1,1,2)); b=cv2.boxPoints(r)
    g['rectangles'].append({'points':q.tolist(),'center':list(r[0]),'size':list(r[1]),'angle':r[2],'corners':box(b),'hull':cv2.convexHull(q.reshape(-1,1,2),clockwise=False).reshape(-1,2).tolist()})
    pts=sorted(list(b),key=lambda p:p[0])
    i1,i4=(0,1) if pts[1][1]>pts[0][1] else (1,0)
    i2,i3=(2,3) if pts[3][1]>pts[2][1] else (3,2)
    o4=np.array([pts[i1],pts[i2],pts[i3],pts[i4]])
    p=Polygon(o4); d=p.area*1.6/p.length
    o=pyclipper.PyclipperOffset(); o.AddPath(o4,pyclipper.JT_ROUND,pyclipper.ET_CLOSEDPOLYGON)
    e=o.Execute(d); 
    if len(e)!=1: print('paths',len(e)); continue
    r=cv2.minAreaRect(np.array(e).reshape(-1,1,2))
    g['offset'].append({'polygon':box(o4),'area':p.area,'perimeter':p.length,'distance':d,'grown':e[0],'corners':box(cv2.boxPoints(r)),'side':min(r[1])})
for k in range(n):
    w,h=int(rng.integers(1,40)),int(rng.integers(1,30)); m=np.zeros((h,w),np.uint8)
    c=rng.uniform(-5,40,2); s=rng.uniform(1,40,2); a=float(rng.uniform(-90,0))
    q=cv2.boxPoints(((c[0],c[1]),(s[0],s[1]),a)).astype(np.int32)
    if k%3==0: q=rng.integers(-8,45,(4,2)).astype(np.int32)
    cv2.fillPoly(m,q.reshape(1,-1,2),1)
    g['fill'].append({'size':[w,h],'polygon':q.tolist(),'mask':b64(m)})
for k in range(n):
    w,h=int(rng.integers(4,60)),int(rng.integers(4,60)); p=pic(w,h,3)
    c=rng.uniform(5,50,2); s=rng.uniform(3,50,2); a=float(rng.uniform(-45,45)) if k%3 else 0.
    q=cv2.boxPoints(((c[0],c[1]),(s[0],s[1]),a)); q=np.round(q[[1,2,3,0]]+rng.integers(-1,2,(4,2))).astype(np.float32)
    W=int(max(np.linalg.norm(q[0]-q[1]),np.linalg.norm(q[2]-q[3]))); H=int(max(np.linalg.norm(q[0]-q[3]),np.linalg.norm(q[1]-q[2])))
    if W<1 or H<1: continue
    std=np.array([[0,0],[W,0],[W,H],[0,H]]).astype(np.float32)
    M=cv2.getPerspectiveTransform(q,std)
    if M is None: continue
    r=cv2.warpPerspective(p,M,(W,H),borderMode=cv2.BORDER_REPLICATE,flags=cv2.INTER_CUBIC)
    g['warp'].append({'size':[w,h],'data':b64(p),'corners':box(q),'to':[W,H],'matrix':M.reshape(-1).tolist(),'inverse':cv2.invert(M)[1].reshape(-1).tolist(),'warped':b64(r)})
json.dump(g,open(out,'w'))
print({k:len(v) for k,v in g.items()})
