import json,collections
rows=[json.loads(l) for l in open('b.jsonl')]; cl=[json.loads(l) for l in open('b-clean.jsonl')]
assert all(r['secret'] and r['secret'] in r['text'] for r in rows)
assert all(r['named'] for r in rows if not r['form']), 'form=false must be named'
assert all(p in r['text'] for r in rows for p in r.get('pieces',[]))
assert not [r for r in rows+cl if '«' in r['text']and '«s' not in r.get('x','')and '»' in r['text']], [r for r in rows+cl if '«' in r['text']][:3]
assert len({r['secret'] for r in rows})>len(rows)-40, 'dups'
print('rows',len(rows),'kinds',len({r['kind'] for r in rows}),'issuers',len({r['issuer'] for r in rows}),'clean',len(cl))
print('context',dict(collections.Counter(r['context'] for r in rows))); print('form',dict(collections.Counter(r['form'] for r in rows)),'named',dict(collections.Counter((r['form'],r['named']) for r in rows)))
print('split rows',sum('pieces' in r for r in rows)); print('clean ctx',dict(collections.Counter(r['context'] for r in cl)))
kc=collections.Counter((r['kind'],r['context']) for r in rows); print('kind/context cells',len(kc),'min',min(kc.values()),'max',max(kc.values()), [x for x in kc if kc[x]<3])
ks=collections.defaultdict(set); [ks[r['kind']].add(r['form']) for r in rows]; print('kinds form true',sum(v=={True} for v in ks.values()),'false',sum(v=={False} for v in ks.values()))
print('short secrets',[ (r['kind'],r['secret']) for r in rows if len(r['secret'])<8][:12])
import re
print('placeholderish',[(r['kind'],r['secret'][:40]) for r in rows if re.search(r'example|placeholder|your[_-]|changeme|aaaa|xxxx|1234',r['secret'],re.I)][:20])
print('unclean? ',[c for c in cl if any(r['secret'] in c['text'] for r in rows if len(r['secret'])>9)][:3])
