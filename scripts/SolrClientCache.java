package org.apache.solr.client.solrj.io;

import java.io.Closeable;
import org.apache.solr.client.solrj.SolrClient;
import org.apache.solr.client.solrj.impl.CloudSolrClient;
import org.apache.solr.client.solrj.impl.HttpSolrClientBase;

/**
 * A stub for the one class of solr-solrj-streaming that Solr 10.0.0 cannot do with as it is in 9.10.1: its
 * constructor takes another client. It is enough for Solr to start, and for /export; /stream has no clients.
 */
public class SolrClientCache implements Closeable {
  public SolrClientCache() {}

  public SolrClientCache(HttpSolrClientBase client) {}

  public void setBasicAuthCredentials(String credentials) {}

  public void setDefaultZKHost(String host) {}

  public CloudSolrClient getCloudSolrClient(String host) {
    throw new UnsupportedOperationException("a stub");
  }

  public SolrClient getHttpSolrClient(String url) {
    throw new UnsupportedOperationException("a stub");
  }

  @Override
  public void close() {}
}
