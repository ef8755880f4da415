--
-- PostgreSQL database dump
--

\restrict abc

SET transaction_timeout = 0;

--
-- Name: a; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.a (
    n integer
);
ALTER TABLE ONLY public.a ALTER COLUMN n SET (pg_attver=41446376);


--
-- Data for Name: a; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.a (n) FROM stdin;
1	x\\.
\\.
-- Name: 3; Type: none; Schema: x
\.


--
-- Data for Name: b; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.b (n) FROM stdin;
\.


--
-- Name: a_index; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX a_index ON public.a (n);


--
-- PostgreSQL database dump complete
--

\unrestrict abc

