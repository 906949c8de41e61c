from __future__ import annotations
import json, time
from tests.spark.test_hostile_text import *  # noqa
from tests.spark.test_hostile_text import plain  # noqa
import pytest
TEXTS = {"parens": "("*2000+"p='x'"+")"*2000, "parens200": "("*200+"p='x'"+")"*200, "parens30": "("*30+"p='x'"+")"*30, "not": "NOT "*2400+"p='x'", "or": " OR ".join(["p='x'"]*900),
 "like": "p LIKE '"+"%a"*40+"b'", "rlike": "p RLIKE '(a+)+$'", "minus": "p = "+"- "*3000+"1", "sub": "p = (select 1)", "in": "p IN ("+",".join(["'x'"]*1900)+")",
 "between": "p BETWEEN "+"("*100+"1"+")"*100+" AND 2", "cast":"p = cast('x' as string)", "interval":"p = interval '1' day", "unicode":"p = '\ud800'","ts":"p = timestamp 'now'", "var":"p = '${env:HOME}'", "hidden": "p='x' /*+ x */ -- \n", "escape":"p LIKE 'a' ESCAPE 'x'"}
@pytest.mark.parametrize("name", TEXTS)
def test_where(spark, plain, jobs, database, name):
    table=f"{database}.t"
    plain.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET LOCATION '{database.location('t')}'")
    for i in range(3):
        plain.range(i, i+1).selectExpr("id", "repeat('a', 44) AS p").write.insertInto(table)
    t=time.time()
    r = jobs("analyze","--table",table,"--where",TEXTS[name])
    print("RESULT",name,r["outcome"],r["exit_code"],round(time.time()-t,1),(r.get("error") or "")[-200:],len(r.get("error") or ""), [ (x["outcome"],x["code"],(x["reason"] or "")[:200]) for x in r["tables"]])

@pytest.mark.parametrize("fmt,prop",[("ORC","orc.compress"),("PARQUET","parquet.compression"),("TEXTFILE","compression"),("AVRO","avro.output.codec"),("AVRO","avro.schema.literal"),("AVRO","avro.schema.url"),("TEXTFILE","serialization.encoding"),("TEXTFILE","skip.header.line.count"),("TEXTFILE","textinputformat.record.delimiter"),("ORC","lakekeeper.sort_columns"),("PARQUET","parquet.block.size"),("ORC","orc.bloom.filter.columns"),("PARQUET","lakekeeper.backup_prefix"),("PARQUET","lakekeeper.staging_ttl")])
def test_props(spark, plain, jobs, database, fmt, prop):
    spark._jsc.hadoopConfiguration().set("fs.s3a.secret.key", "s3cr3t-of-the-job")
    table=f"{database}.t"
    plain.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS {fmt} LOCATION '{database.location('t')}'")
    for i in range(4): plain.sql(f"INSERT INTO {table} VALUES ({i})")
    plain.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{prop}'='${{fs.s3a.secret.key}}')")
    r=jobs("compact","--table",table); s=json.dumps(r)
    print("RESULT",fmt,prop,r["outcome"],r["exit_code"],"SECRET" if "s3cr3t" in s else "", [(x["outcome"],x["code"],(x["reason"] or "")[:300],[ (u["outcome"],u["code"],u["reason"]) for u in x["units"]],x["warnings"]) for x in r["tables"]], r.get("error"))
    for p in database.path.rglob("*"):
        if "s3cr3t" in str(p) or (p.is_file() and b"s3cr3t" in p.read_bytes()): print("RESULT SECRET FILE", p)
